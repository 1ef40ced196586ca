/**
 * Removes bytes that nothing names any more: those of loose keys whose instant has passed, and those of uploads that
 * expired. At start and from time to time. What cannot be removed now is tried again, and holds up nothing else.
 */
import { Effect, Layer } from "effect"
import { BlobStore } from "../blobs/BlobStore.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { addMillis, now } from "../ids/Timestamp.ts"
import { FileStore } from "./FileStore.ts"
import type { MultipartUpload } from "./MultipartUpload.ts"
import { OpenUploads } from "./OpenUploads.ts"
import { Readers } from "./Readers.ts"

/** Between two passes: bytes that nothing names cost storage, and nobody waits for them to go. */
const everyMs = 300_000

/** How long after a failure, or after a reader was met, a key's turn comes again, in milliseconds. */
const retryMs = 60_000

/** Keys, or uploads, that are taken at once, and how many of them are removed side by side. */
const batch = 100
const concurrency = 4

export const layer: Layer.Layer<never, never, FileStore | BlobStore | OpenUploads | Readers> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sweep = Effect.andThen(yield* makeDropExpired, yield* makeRemoveLoose)
    const pause = Effect.sleep(everyMs)
    yield* forkLasting({ name: "The janitor of files", afterFailure: pause }, Effect.andThen(sweep, pause))
  })
)

const makeRemoveLoose = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const readers = yield* Readers

  /** The key, when nothing is under it any more. */
  const removed = (key: string) =>
    readers.isRead(key)
      ? Effect.succeed([])
      : blobs.remove(key).pipe(
          Effect.as([key]),
          Effect.catchCause((cause) => Effect.as(Effect.logWarning("Bytes of no file cannot be removed", cause), []))
        )

  return Effect.gen(function* () {
    while (true) {
      const instant = yield* now
      const keys = yield* store.takeLoose(instant, addMillis(instant, retryMs), batch)
      const gone = yield* Effect.forEach(keys, removed, { concurrency })
      if (keys.length > 0) yield* store.forget(gone.flat())
      if (keys.length < batch) return
    }
  })
})

const makeDropExpired = Effect.gen(function* () {
  const store = yield* FileStore
  const uploads = yield* OpenUploads

  const drop = (upload: MultipartUpload): Effect.Effect<void> =>
    uploads.discard(upload).pipe(
      Effect.catchTag("NotFound", () => Effect.void),
      Effect.catchCause((cause) => Effect.logWarning("An expired upload cannot be removed", cause))
    )

  return Effect.gen(function* () {
    let last: MultipartUpload | null = null
    while (true) {
      const expired: ReadonlyArray<MultipartUpload> = yield* store.expiredUploads(yield* now, batch, last)
      yield* Effect.forEach(expired, drop, { concurrency, discard: true })
      last = expired.at(-1) ?? null
      if (expired.length < batch) return
    }
  })
})
