/** Checks at start that the bucket exists and can be written. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import { readObject } from "./Reading.ts"
import { type S3Failure, strange } from "./S3Failure.ts"
import type { S3Options } from "./S3Options.ts"
import type { Writing } from "./Writing.ts"

/** The bucket cannot be found, created, written or read. Reported at start, for the operator. */
export class BucketUnusable extends Schema.TaggedError<BucketUnusable>()("BucketUnusable", {
  bucket: Schema.String,
  endpoint: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The bucket ${this.bucket} at ${this.endpoint} cannot be used for blobs: ${this.reason}`
  }
}

export const checkBucket = (
  writing: Writing,
  { bucket: name, endpoint, port, createBucket = true }: S3Options
): Effect.Effect<void, BucketUnusable> => {
  const { bucket } = writing
  const found = Effect.flatMap(bucket.exists, (exists) => {
    if (exists) return Effect.void
    return createBucket ? bucket.make : Effect.fail(strange("NoSuchBucket"))
  })
  return Effect.mapError(
    Effect.andThen(found, probe(writing)),
    (failure) =>
      new BucketUnusable({
        bucket: name,
        endpoint: port === undefined ? endpoint : `${endpoint}:${port}`,
        reason: reasonOf(failure)
      })
  )
}

/** Put, get, list and remove need different rights. */
const probe = ({ bucket, places }: Writing): Effect.Effect<void, S3Failure> =>
  Effect.gen(function* () {
    const object = places.probe(randomUUID())
    yield* bucket.put(object, new Uint8Array([1]))
    const read = yield* readObject(bucket, object)
    if (read?.bytes.length !== 1) return yield* strange("NoSuchKey")
    yield* bucket.remove(object)
  })

const reasonOf = (failure: S3Failure): string => {
  const { code, status } = failure
  if (code === "NoSuchBucket") return "there is no such bucket"
  if (status === 401 || status === 403) return `its credentials are refused (${code})`
  return failure.message
}
