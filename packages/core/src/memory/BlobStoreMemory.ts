/** `BlobStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { BlobStore } from "../blobs/BlobStore.ts"
import { NotFound } from "../errors/Errors.ts"

export const layer: Layer.Layer<BlobStore> = Layer.sync(BlobStore, () => {
  const blobs = new Map<string, Uint8Array>()

  return BlobStore.of({
    backend: "memory",
    // Copies both ways: bytes that a caller goes on using must not change what is stored.
    put: (key, bytes) => Effect.sync(() => void blobs.set(key, bytes.slice())),
    get: (key) =>
      Effect.suspend(() => {
        const bytes = blobs.get(key)
        return bytes === undefined ? Effect.fail(new NotFound({ resource: "blob" })) : Effect.succeed(bytes.slice())
      }),
    remove: (key) => Effect.sync(() => void blobs.delete(key))
  })
})
