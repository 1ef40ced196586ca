/**
 * Blobs as objects of a bucket, on Amazon S3 and compatible servers: MinIO, Ceph, OpenStack Swift.
 *
 * The content of a key changes in one step of S3. No reader sees a mixture, and a failed writer leaves nothing behind.
 */
import { createHash } from "node:crypto"
import type { StoreUnavailable } from "@weft/core"
import { BlobStore, type ByteRange } from "@weft/core/adapter"
import { Effect, Layer, Stream } from "effect"
import { blockBytes } from "./Blocks.ts"
import { makeBucket } from "./Bucket.ts"
import { type BucketUnusable, checkBucket } from "./BucketUnusable.ts"
import { makeNameLocks } from "./NameLocks.ts"
import { beginParts, dropParts, joinParts, writePart } from "./Parts.ts"
import { type Places, placesIn, uploadOf } from "./Places.ts"
import { type Address, makeAddress } from "./Presigned.ts"
import { openReading, type Reading, readObject } from "./Reading.ts"
import { orAbsent, type S3Failure, unavailable } from "./S3Failure.ts"
import type { S3Options } from "./S3Options.ts"
import { makeS3Transport } from "./S3Transport.ts"
import { abortNoted, type Writing, writeObject } from "./Writing.ts"

export const blobs = (options: S3Options): Layer.Layer<BlobStore, BucketUnusable> =>
  Layer.effect(
    BlobStore,
    Effect.gen(function* () {
      const writing: Writing = {
        bucket: makeBucket(yield* makeS3Transport(options), options),
        places: placesIn(options.prefix ?? "")
      }
      const address = makeAddress(options)
      yield* checkBucket(writing, options)
      return storeIn(writing, address)
    })
  )

const storeIn = (writing: Writing, address: Address): BlobStore["Service"] => {
  const { bucket, places } = writing
  const uploads = makeNameLocks()

  return BlobStore.of({
    backend: "s3",

    newHash: () => {
      const hash = createHash("sha256")
      return { update: (bytes) => void hash.update(bytes), digest: Effect.sync(() => hash.digest("hex")) }
    },

    isEmpty: unavailable("isEmpty", bucket.isEmpty(places.contents)),

    put: (key, bytes) =>
      at(places, key, (object) => Effect.uninterruptible(unavailable("put", putWhole(writing, object, bytes)))),

    get: (key) =>
      at(places, key, (object) =>
        Effect.map(Effect.flatMap(unavailable("get", readObject(bucket, object)), orAbsent), ({ bytes }) => bytes)
      ),

    remove: (key) =>
      at(places, key, (object) =>
        unavailable(
          "remove",
          Effect.uninterruptible(Effect.andThen(abortNoted(writing, `${object}~`), bucket.remove(object)))
        )
      ),

    write: (key, bytes) => at(places, key, (object) => unavailable("write", writeObject(writing, object, bytes))),

    read: (key, range) =>
      at(places, key, (object) => Effect.map(Effect.flatMap(open(writing, object, range), orAbsent), streamOf)),

    address: (key, as) => at(places, key, (object) => address(object, as)),

    beginParts: (key) => at(places, key, (object) => unavailable("beginParts", beginParts(writing, object))),

    writePart: (key, name, number, bytes) =>
      at(places, key, (object) => unavailable("writePart", writePart(writing, uploadOf(object, name), number, bytes))),

    joinParts: (key, name, chosen) =>
      at(places, key, (object) => {
        const parts = uploadOf(object, name)
        return uploads.holding(
          name,
          Effect.uninterruptible(unavailable("joinParts", joinParts(writing, parts, chosen)))
        )
      }),

    dropParts: (key, name) =>
      at(places, key, (object) => {
        const parts = uploadOf(object, name)
        return uploads.holding(name, Effect.uninterruptible(unavailable("dropParts", dropParts(writing, parts))))
      })
  })
}

/** An invalid key is a programming error, not an outage: the effect dies. */
const at = <A, E, R>(places: Places, key: string, use: (object: string) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => use(places.content(key)))

const putWhole = (writing: Writing, object: string, bytes: Uint8Array): Effect.Effect<void, S3Failure> =>
  bytes.length <= blockBytes
    ? Effect.asVoid(writing.bucket.put(object, bytes))
    : Effect.asVoid(writeObject(writing, object, Stream.succeed(bytes)))

const open = ({ bucket }: Writing, object: string, range: ByteRange | undefined) =>
  unavailable("read", openReading(bucket, object, range))

const streamOf = ({ pull }: Reading): Stream.Stream<Uint8Array, StoreUnavailable> =>
  Stream.fromPull(Effect.succeed(unavailable("read", pull)))
