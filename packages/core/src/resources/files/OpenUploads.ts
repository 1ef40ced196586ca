/**
 * Locks of the uploads on this node.
 *
 * Several requests may write parts of an upload at the same time, and may replace existing parts. Joining or discarding
 * the parts needs an exclusive lock. It interrupts the writers, which fail with `NotFound`, and waits for them.
 */
import { Context, Deferred, Effect, Layer, Semaphore } from "effect"
import { NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { UploadId } from "../../foundation/Ids.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { FileStore } from "./FileStore.ts"
import { type MultipartUpload, partsMax } from "./MultipartUpload.ts"

export const noSuchUpload = new NotFound({ resource: "upload" })

export class OpenUploads extends Context.Service<
  OpenUploads,
  {
    /** Runs the writer of a part under a shared lock. Fails with `NotFound` if an exclusive lock is requested. */
    readonly withShared: <A, E, R>(id: UploadId, write: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NotFound, R>
    /** Runs an effect under the exclusive lock of the upload. */
    readonly withExclusive: <A, E, R>(id: UploadId, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Removes the upload and its bytes. `NotFound` if it is no longer open. */
    readonly discard: (upload: MultipartUpload) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/files/OpenUploads") {
  static readonly layer: Layer.Layer<OpenUploads, never, FileStore | BlobStore> = Layer.effect(
    OpenUploads,
    Effect.gen(function* () {
      const store = yield* FileStore
      const blobs = yield* BlobStore
      const locks = new Map<UploadId, UploadLock>()

      const withLock = <A, E, R>(id: UploadId, use: (lock: UploadLock) => Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const lock = locks.get(id) ?? newLock()
            locks.set(id, lock)
            lock.users += 1
            return lock
          }),
          use,
          (lock) =>
            Effect.sync(() => {
              lock.users -= 1
              if (lock.users === 0) locks.delete(id)
            })
        )

      const withExclusive = <A, E, R>(id: UploadId, effect: Effect.Effect<A, E, R>) =>
        withLock(id, (lock) =>
          lock.exclusive.withPermit(
            Effect.acquireUseRelease(
              Deferred.succeed(lock.exclusiveRequested, undefined),
              () => lock.writers.withPermits(partsMax)(effect),
              () =>
                Effect.sync(() => {
                  lock.exclusiveRequested = Deferred.makeUnsafe()
                })
            )
          )
        )

      return OpenUploads.of({
        withShared: (id, write) =>
          withLock(id, (lock) => {
            const rejected = Effect.andThen(Deferred.await(lock.exclusiveRequested), Effect.fail(noSuchUpload))
            return Effect.raceFirst(rejected, lock.writers.withPermit(write))
          }),

        withExclusive,

        // Removes the bytes first. After a crash in between, the record still lists them.
        discard: (upload) =>
          withExclusive(
            upload.upload_id,
            Effect.gen(function* () {
              yield* blobs.dropParts(upload.storage_path, upload.storage_parts)
              yield* store.removeUpload(upload.env_id, upload.upload_id)
              // An incomplete completion may have joined the parts. Without the record, no other completion can.
              yield* blobs.remove(upload.storage_path)
              yield* store.release([upload.storage_path])
            })
          )
      })
    })
  )
}

interface UploadLock {
  /** Number of fibers that hold the lock or wait for it. */
  users: number
  /** Serializes requests for the exclusive lock. */
  readonly exclusive: Semaphore.Semaphore
  readonly writers: Semaphore.Semaphore
  /** Completes when a fiber requests the exclusive lock. */
  exclusiveRequested: Deferred.Deferred<void>
}

const newLock = (): UploadLock => ({
  users: 0,
  exclusive: Semaphore.makeUnsafe(1),
  writers: Semaphore.makeUnsafe(partsMax),
  exclusiveRequested: Deferred.makeUnsafe()
})
