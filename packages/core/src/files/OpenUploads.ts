/**
 * Who is at work on which upload of this node.
 *
 * Parts are written side by side, each replacing one of its number at any moment. So whoever joins or drops the parts
 * of an upload has to be alone with it: the writers of parts are told that the upload is gone, and awaited.
 */
import { Context, Deferred, Effect, Layer, Semaphore } from "effect"
import { BlobStore } from "../blobs/BlobStore.ts"
import { NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import type { UploadId } from "../ids/Ids.ts"
import { FileStore } from "./FileStore.ts"
import { type MultipartUpload, partsMax } from "./MultipartUpload.ts"

export const noSuchUpload = new NotFound({ resource: "upload" })

export class OpenUploads extends Context.Service<
  OpenUploads,
  {
    /** Runs the writer of a part, until somebody wants to be alone. */
    readonly beside: <A, E, R>(id: UploadId, write: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NotFound, R>
    /** Runs when nobody else is at work on the upload, and keeps others away meanwhile. */
    readonly alone: <A, E, R>(id: UploadId, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Ends the upload and removes its bytes. `NotFound` when it was ended before. */
    readonly discard: (upload: MultipartUpload) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/files/OpenUploads") {
  static readonly layer: Layer.Layer<OpenUploads, never, FileStore | BlobStore> = Layer.effect(
    OpenUploads,
    Effect.gen(function* () {
      const store = yield* FileStore
      const blobs = yield* BlobStore
      const gates = new Map<UploadId, Gate>()

      const using = <A, E, R>(id: UploadId, use: (gate: Gate) => Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const gate = gates.get(id) ?? newGate()
            gates.set(id, gate)
            gate.users += 1
            return gate
          }),
          use,
          (gate) =>
            Effect.sync(() => {
              gate.users -= 1
              if (gate.users === 0) gates.delete(id)
            })
        )

      const alone = <A, E, R>(id: UploadId, effect: Effect.Effect<A, E, R>) =>
        using(id, (gate) =>
          gate.turn.withPermit(
            Effect.acquireUseRelease(
              Deferred.succeed(gate.wanted, undefined),
              () => gate.writers.withPermits(partsMax)(effect),
              () =>
                Effect.sync(() => {
                  gate.wanted = Deferred.makeUnsafe()
                })
            )
          )
        )

      return OpenUploads.of({
        beside: (id, write) =>
          using(id, (gate) => {
            const turnedAway = Effect.andThen(Deferred.await(gate.wanted), Effect.fail(noSuchUpload))
            return Effect.raceFirst(turnedAway, gate.writers.withPermit(write))
          }),

        alone,

        // The bytes first, so that a crash in the middle leaves the record of what there still is to be removed.
        discard: (upload) =>
          alone(
            upload.upload_id,
            Effect.gen(function* () {
              yield* blobs.dropParts(upload.storage_path, upload.storage_parts)
              yield* store.removeUpload(upload.env_id, upload.upload_id)
              // Parts may have been joined by a completion that went no further. From here on none can.
              yield* blobs.remove(upload.storage_path)
              yield* store.forget([upload.storage_path])
            })
          )
      })
    })
  )
}

interface Gate {
  /** How many fibers hold on to it. */
  users: number
  /** Of those who want to be alone, one after the other. */
  readonly turn: Semaphore.Semaphore
  readonly writers: Semaphore.Semaphore
  /** Done as soon as somebody wants to be alone. */
  wanted: Deferred.Deferred<void>
}

const newGate = (): Gate => ({
  users: 0,
  turn: Semaphore.makeUnsafe(1),
  writers: Semaphore.makeUnsafe(partsMax),
  wanted: Deferred.makeUnsafe()
})
