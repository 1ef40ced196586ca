/**
 * Blobs in parts, as one S3 upload to the blob's key.
 *
 * A part is a block of that upload. S3 requires 5 MiB for every block except the last, so smaller parts are objects until
 * they are joined. The digest of a part contains S3's ETag, by which S3 checks that a part is the intended one.
 */
import { randomUUID } from "node:crypto"
import type { NotFound } from "@weft/core"
import type { BlobPart, WrittenBlob } from "@weft/core/adapter"
import { Effect, type Scope, Stream } from "effect"
import { type BlockSink, blockBytesMin, inBlocks, release } from "./Blocks.ts"
import type { Upload, UploadedBlock } from "./Bucket.ts"
import { nameOf } from "./Places.ts"
import { openReading, readObject } from "./Reading.ts"
import { absent, orAbsent, orNull, type S3Failure, strange } from "./S3Failure.ts"
import { abortNoted, abortOpen, joined, measured, openUpload, type Writing, writeObject } from "./Writing.ts"

/**
 * Maximum size of a part that is held in memory, in bytes. A larger part becomes an object first, which S3 then copies: S3
 * requires the length of a block beforehand.
 */
const heldBytesMax = 16 * 1024 ** 2

export const beginParts = ({ bucket }: Writing, key: string): Effect.Effect<string, S3Failure> =>
  Effect.map(
    Effect.suspend(() => bucket.initiate(key, randomUUID())),
    nameOf
  )

export const writePart = <E>(
  writing: Writing,
  parts: Upload,
  number: number,
  bytes: Stream.Stream<Uint8Array, E>
): Effect.Effect<WrittenBlob, E | NotFound | S3Failure> => {
  const held = (block: Uint8Array) =>
    block.length < blockBytesMin ? putSmall(writing, parts, number, block) : putLarge(writing, parts, number, block)
  return Effect.flatMap(
    measured(bytes, (counted) => inBlocks(counted, heldBytesMax, held, draftSink(writing, parts, number))),
    ({ size, digest, value: etag }) =>
      /^[A-Za-z0-9]+$/.test(etag) ? Effect.succeed({ size, digest: `${digest}${etag}` }) : Effect.fail(strange("ETag"))
  )
}

const putSmall = ({ bucket, places }: Writing, parts: Upload, number: number, block: Uint8Array) =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const object = places.part(parts, number)
      const etag = yield* bucket.put(object, block)
      if ((yield* bucket.isOpen(parts)) && (yield* joined(bucket, parts)) === null) return etag
      yield* bucket.remove(object)
      return yield* absent
    })
  )

const putLarge = (writing: Writing, parts: Upload, number: number, block: Uint8Array) =>
  placed(
    writing,
    parts,
    number,
    Effect.tap(writing.bucket.putBlock(parts, number, block), () => Effect.sync(() => release(block)))
  )

/** Uploads a block and removes an earlier object of its number. Returns the ETag. */
const placed = (
  { bucket, places }: Writing,
  parts: Upload,
  number: number,
  put: Effect.Effect<UploadedBlock, S3Failure>
): Effect.Effect<string, NotFound | S3Failure> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const { etag } = yield* orAbsentUpload(put)
      if ((yield* joined(bucket, parts)) !== null) return yield* absent
      yield* bucket.remove(places.part(parts, number))
      return etag
    })
  )

/** Collects a part in an object of its own, then makes S3 copy it. */
const draftSink = (
  writing: Writing,
  parts: Upload,
  number: number
): Effect.Effect<BlockSink<string, NotFound | S3Failure>, S3Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const { bucket, places } = writing
    const draft = places.draft(parts, number)
    yield* Effect.addFinalizer(() => Effect.ignore(bucket.remove(draft)))
    const { take, finish } = yield* openUpload(writing, draft, randomUUID())
    const copy = placed(writing, parts, number, bucket.copyBlock(parts, number, draft))
    return { take, finish: Effect.andThen(finish, copy) }
  })

/** Turns a rejection because of a missing upload into `NotFound`. */
const orAbsentUpload = <A>(asked: Effect.Effect<A, S3Failure>): Effect.Effect<A, NotFound | S3Failure> =>
  Effect.flatMap(orNull(asked), orAbsent)

export const joinParts = (
  writing: Writing,
  parts: Upload,
  chosen: ReadonlyArray<BlobPart>
): Effect.Effect<WrittenBlob, NotFound | S3Failure> =>
  Effect.gen(function* () {
    const { bucket } = writing
    if ((yield* joined(bucket, parts)) === null && (yield* bucket.isOpen(parts))) yield* join(writing, parts, chosen)
    const found = yield* Effect.flatMap(joined(bucket, parts), orAbsent)
    yield* removeObjects(writing, parts)
    return { size: found.size, digest: found.etag.replace(/[^A-Za-z0-9]/g, "x") }
  })

const join = (writing: Writing, parts: Upload, chosen: ReadonlyArray<BlobPart>) => {
  const isSmall = ({ size }: BlobPart) => size < blockBytesMin
  if (chosen.every(isSmall)) return joinSmall(writing, parts, chosen)
  const fits = chosen.slice(0, -1).every((part, index) => !isSmall(part) && part.number < numberOf(chosen[index + 1]))
  if (fits) return joinBlocks(writing, parts, chosen)
  return Effect.die(
    new Error(`S3 joins parts in the order of their numbers, of ${blockBytesMin} bytes but for the last`)
  )
}

const numberOf = (part: BlobPart | undefined): number => part?.number ?? 0

/** True if S3 can join them: all blocks except the last are large enough. */
const joinBlocks = (writing: Writing, parts: Upload, chosen: ReadonlyArray<BlobPart>) =>
  Effect.gen(function* () {
    const { bucket, places } = writing
    const replaced = new Set((yield* bucket.list(places.parts(parts))).map((object) => places.numberOf(parts, object)))
    const blocks: Array<UploadedBlock> = []
    for (const part of chosen) {
      const etag = yield* etagOf(part)
      if (part.size < blockBytesMin) {
        const found = yield* Effect.flatMap(readObject(bucket, places.part(parts, part.number)), orAbsent)
        if (found.etag !== etag) return yield* absent
        blocks.push(yield* orAbsentUpload(bucket.putBlock(parts, part.number, found.bytes)))
      } else {
        if (replaced.has(part.number)) return yield* absent
        blocks.push({ part: part.number, etag })
      }
    }
    yield* Effect.catchTag(bucket.complete(parts, blocks), "S3Failure", (failure) =>
      Effect.fail(failure.code === "InvalidPart" ? absent : failure)
    )
  })

/** Rewrites parts that S3 cannot join as one blob with the mark of its parts. */
const joinSmall = (writing: Writing, parts: Upload, chosen: ReadonlyArray<BlobPart>) =>
  Effect.gen(function* () {
    const { bucket } = writing
    const bytes = Stream.flatMap(Stream.fromIterable(chosen), (part) => Stream.unwrap(partBytes(writing, parts, part)))
    yield* writeObject(writing, parts.key, bytes, parts.mark)
    yield* bucket.abort(parts)
  })

const partBytes = ({ bucket, places }: Writing, parts: Upload, part: BlobPart) =>
  Effect.gen(function* () {
    const etag = yield* etagOf(part)
    const reading = yield* Effect.flatMap(openReading(bucket, places.part(parts, part.number)), orAbsent)
    if (reading.etag !== etag) return yield* absent
    return Stream.fromPull(Effect.succeed(reading.pull))
  })

/** The ETag in the digest of a part: the digest is the SHA-256 of its bytes in hexadecimal, followed by the ETag. */
const etagOf = ({ digest }: BlobPart): Effect.Effect<string, NotFound> =>
  orAbsent(/^[0-9a-f]{64}([A-Za-z0-9]+)$/.exec(digest)?.[1] ?? null)

export const dropParts = (writing: Writing, parts: Upload): Effect.Effect<void, S3Failure> =>
  Effect.gen(function* () {
    yield* abortOpen(writing.bucket, parts)
    yield* removeObjects(writing, parts)
  })

/** The failure for parts that were joined or dropped. */
const removeObjects = (writing: Writing, parts: Upload): Effect.Effect<void, S3Failure> =>
  Effect.gen(function* () {
    const { bucket, places } = writing
    const prefix = places.parts(parts)
    yield* abortNoted(writing, prefix)
    yield* Effect.forEach(yield* bucket.list(prefix), bucket.remove, { concurrency: 4, discard: true })
  })
