/**
 * Removes unreferenced bytes, at start and periodically: those of expired reservations and of expired uploads. Retries
 * keys that cannot be removed, without delaying others.
 */
import { Effect, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { FileStore } from "./FileStore.ts"
import type { MultipartUpload } from "./MultipartUpload.ts"
import { OpenUploads } from "./OpenUploads.ts"
import { Readers } from "./Readers.ts"

/** Interval of sweeps in milliseconds. Unreferenced bytes only cost storage, so the interval is long. */
const everyMs = 300_000

/** Delay of the next attempt for a key that failed or is being read, in milliseconds. */
const retryMs = 60_000

/** Maximum keys or uploads per batch, and maximum concurrent removals. */
const batch = 100
const concurrency = 4

export const layer: Layer.Layer<never, never, FileStore | BlobStore | OpenUploads | Readers> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sweep = Effect.andThen(yield* makeDiscardUploads, yield* makeRemoveUnreferenced)
    const pause = Effect.sleep(everyMs)
    yield* forkSupervised({ name: "The file janitor", afterFailure: pause }, Effect.andThen(sweep, pause))
  })
)

const makeRemoveUnreferenced = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const readers = yield* Readers

  /** Removes the bytes of a key. Returns the key if that succeeds. */
  const remove = (key: string) =>
    readers.isRead(key)
      ? Effect.succeed([])
      : blobs.remove(key).pipe(
          Effect.as([key]),
          Effect.catchCause((cause) =>
            Effect.as(Effect.logWarning("Unreferenced bytes could not be removed", cause), [])
          )
        )

  return Effect.gen(function* () {
    while (true) {
      const instant = yield* now
      const keys = yield* store.claimExpired(instant, addMillis(instant, retryMs), batch)
      const removed = yield* Effect.forEach(keys, remove, { concurrency })
      if (keys.length > 0) yield* store.release(removed.flat())
      if (keys.length < batch) return
    }
  })
})

const makeDiscardUploads = Effect.gen(function* () {
  const store = yield* FileStore
  const uploads = yield* OpenUploads

  const discard = (upload: MultipartUpload): Effect.Effect<void> =>
    uploads.discard(upload).pipe(
      Effect.catchTag("NotFound", () => Effect.void),
      Effect.catchCause((cause) => Effect.logWarning("An expired upload could not be removed", cause))
    )

  return Effect.gen(function* () {
    let last: MultipartUpload | null = null
    while (true) {
      const expired: ReadonlyArray<MultipartUpload> = yield* store.expiredUploads(yield* now, batch, last)
      yield* Effect.forEach(expired, discard, { concurrency, discard: true })
      last = expired.at(-1) ?? null
      if (expired.length < batch) return
    }
  })
})
