/** Streams become objects: short ones in one request, longer ones as uploads of S3, of which a failure leaves nothing. */
import { createHash, randomUUID } from "node:crypto"
import type { Written } from "@weft/core"
import { Effect, Fiber, type Scope, Stream } from "effect"
import { type BlockSink, blockBytes, inBlocks, release } from "./Blocks.ts"
import type { Bucket, Found, Upload, UploadedBlock } from "./Bucket.ts"
import type { Places } from "./Places.ts"
import { type S3Failure, strange } from "./S3Failure.ts"

export interface Writing {
  readonly bucket: Bucket
  readonly places: Places
}

/** Replaces the object when all of the stream is there, and not before. What it is then bears the mark. */
export const writeObject = <E>(
  writing: Writing,
  key: string,
  bytes: Stream.Stream<Uint8Array, E>,
  mark: string = randomUUID()
): Effect.Effect<Written, E | S3Failure> => {
  const put = (block: Uint8Array) => Effect.uninterruptible(Effect.asVoid(writing.bucket.put(key, block, mark)))
  return Effect.map(
    measured(bytes, (counted) => inBlocks(counted, blockBytes, put, openUpload(writing, key, mark))),
    ({ size, digest }) => ({ size, digest })
  )
}

/** Runs with the stream, then says what went through. */
export const measured = <E, A, E2>(
  bytes: Stream.Stream<Uint8Array, E>,
  run: (counted: Stream.Stream<Uint8Array, E>) => Effect.Effect<A, E2>
): Effect.Effect<Written & { readonly value: A }, E2> =>
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
 * An upload that is aborted with the scope unless it was finished. One block is on its way while the next is gathered.
 * What is left because the process dies, or S3 does not answer any more, has its note in the bucket: see `abortNoted`.
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

/** Aborts what writers that died have begun to write to objects that begin with this. */
export const abortNoted = ({ bucket, places }: Writing, object: string): Effect.Effect<void, S3Failure> =>
  Effect.flatMap(bucket.list(places.notes(object)), (notes) =>
    Effect.forEach(notes, (note) => Effect.andThen(abortOpen(bucket, places.noted(note)), bucket.remove(note)), {
      concurrency: 4,
      discard: true
    })
  )

/** What the upload became, if it is still there. Some kinds of S3 call an upload open that was completed. */
export const joined = (bucket: Bucket, { key, mark }: Upload): Effect.Effect<Found | null, S3Failure> =>
  Effect.map(bucket.stat(key), (found) => (found?.mark === mark ? found : null))

/** Swift would take the bytes of a blob away with the upload that it was completed from. */
export const abortOpen = (bucket: Bucket, upload: Upload): Effect.Effect<void, S3Failure> =>
  Effect.flatMap(joined(bucket, upload), (found) => (found === null ? bucket.abort(upload) : Effect.void))
