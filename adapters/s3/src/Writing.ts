/** Writes streams as objects: short ones in one request, longer ones as S3 uploads. A failure leaves nothing behind. */
import { createHash, randomUUID } from "node:crypto"
import type { WrittenBlob } from "@weft/core/adapter"
import { Effect, Fiber, type Scope, Stream } from "effect"
import { type BlockSink, blockBytes, inBlocks, release } from "./Blocks.ts"
import type { Bucket, Found, Upload, UploadedBlock } from "./Bucket.ts"
import type { Places } from "./Places.ts"
import { type S3Failure, strange } from "./S3Failure.ts"

export interface Writing {
  readonly bucket: Bucket
  readonly places: Places
}

/** Replaces the object when the whole stream has arrived, not before. The new object has the mark. */
export const writeObject = <E>(
  writing: Writing,
  key: string,
  bytes: Stream.Stream<Uint8Array, E>,
  mark: string = randomUUID()
): Effect.Effect<WrittenBlob, E | S3Failure> => {
  const put = (block: Uint8Array) => Effect.uninterruptible(Effect.asVoid(writing.bucket.put(key, block, mark)))
  return Effect.map(
    measured(bytes, (counted) => inBlocks(counted, blockBytes, put, openUpload(writing, key, mark))),
    ({ size, digest }) => ({ size, digest })
  )
}

/** Runs with the stream, then returns its size and digest. */
export const measured = <E, A, E2>(
  bytes: Stream.Stream<Uint8Array, E>,
  run: (counted: Stream.Stream<Uint8Array, E>) => Effect.Effect<A, E2>
): Effect.Effect<WrittenBlob & { readonly value: A }, E2> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    let size = 0
    const counted = Stream.mapArray(bytes, (chunks) => {
      for (const chunk of chunks) {
        hash.update(chunk)
        size += chunk.length
      }
      return chunks
    })
    return Effect.map(run(counted), (value) => ({ size, digest: hash.digest("hex"), value }))
  })

/**
 * An upload that the scope aborts unless it was completed. One block is sent while the next is collected. If the process
 * dies or S3 stops answering, the record in the bucket remains: see `abortNoted`.
 */
export const openUpload = (
  { bucket, places }: Writing,
  key: string,
  mark: string
): Effect.Effect<BlockSink<void, S3Failure>, S3Failure, Scope.Scope> =>
  Effect.gen(function* () {
    let isFinished = false
    const upload = yield* Effect.acquireRelease(bucket.initiate(key, mark), (begun) =>
      Effect.ignore(
        Effect.andThen(isFinished ? Effect.void : abortOpen(bucket, begun), bucket.remove(places.note(begun)))
      )
    )
    yield* Effect.uninterruptible(bucket.put(places.note(upload), nothing))
    const scope = yield* Effect.scope
    const blocks: Array<UploadedBlock> = []
    let onItsWay: Fiber.Fiber<UploadedBlock, S3Failure> | null = null
    const arrived = Effect.suspend(() =>
      onItsWay === null ? Effect.void : Effect.map(Fiber.join(onItsWay), (block) => void blocks.push(block))
    )
    return {
      take: (block) =>
        Effect.gen(function* () {
          yield* arrived
          const sent = Effect.map(bucket.putBlock(upload, blocks.length + 1, block), (uploaded) => {
            release(block)
            return uploaded
          })
          onItsWay = yield* Effect.forkIn(sent, scope)
        }),
      finish: Effect.andThen(
        arrived,
        Effect.uninterruptible(
          Effect.flatMap(bucket.complete(upload, blocks), (completed) => {
            isFinished = completed
            return isFinished ? Effect.void : Effect.fail(strange("NoSuchUpload"))
          })
        )
      )
    }
  })

const nothing = new Uint8Array()

/** Aborts the uploads that dead writers began for objects with this prefix. */
export const abortNoted = ({ bucket, places }: Writing, object: string): Effect.Effect<void, S3Failure> =>
  Effect.flatMap(bucket.list(places.notes(object)), (notes) =>
    Effect.forEach(notes, (note) => Effect.andThen(abortOpen(bucket, places.noted(note)), bucket.remove(note)), {
      concurrency: 4,
      discard: true
    })
  )

/** Returns the result of the upload, if it still exists. Some S3 implementations report a completed upload as open. */
export const joined = (bucket: Bucket, { key, mark }: Upload): Effect.Effect<Found | null, S3Failure> =>
  Effect.map(bucket.stat(key), (found) => (found?.mark === mark ? found : null))

/** On Swift, aborting a completed upload would delete the bytes of its blob. */
export const abortOpen = (bucket: Bucket, upload: Upload): Effect.Effect<void, S3Failure> =>
  Effect.flatMap(joined(bucket, upload), (found) => (found === null ? bucket.abort(upload) : Effect.void))
