/** `BlobStore` in memory: the executable specification. */
import { Bytes, Effect, Layer, Stream } from "effect"
import { Digest } from "effect/crypto"
import { BlobStore } from "../blobs/BlobStore.ts"
import { NotFound } from "../errors/Errors.ts"

/** Parts under the name that `beginParts` gave them; gone when they were joined or dropped. */
type Parts = Map<number, Uint8Array>

export const layer: Layer.Layer<BlobStore> = Layer.effect(
  BlobStore,
  Effect.gen(function* () {
    const { digestHex } = yield* Digest.Digest
    const blobs = new Map<string, Uint8Array>()
    const open = new Map<string, Parts>()
    let begun = 0

    const find = (key: string) =>
      Effect.suspend(() => {
        const bytes = blobs.get(key)
        return bytes === undefined ? Effect.fail(notFound) : Effect.succeed(bytes)
      })
    const written = (bytes: Uint8Array) =>
      Effect.map(digestHex(Digest.sha256, bytes), (digest) => ({ size: bytes.length, digest }))

    return BlobStore.of({
      backend: "memory",
      // Copies both ways: bytes that a caller goes on using must not change what is stored.
      put: (key, bytes) => Effect.sync(() => void blobs.set(key, bytes.slice())),
      get: (key) => Effect.map(find(key), (bytes) => bytes.slice()),
      remove: (key) => Effect.sync(() => void blobs.delete(key)),

      write: (key, stream) =>
        Effect.flatMap(collect(stream), (bytes) => {
          blobs.set(key, bytes)
          return written(bytes)
        }),
      read: (key, range) =>
        Effect.map(find(key), (bytes) => Stream.make(bytes.slice(range?.start ?? 0, range?.end ?? bytes.length))),

      beginParts: (key) =>
        Effect.sync(() => {
          const name = `${key}#${++begun}`
          open.set(name, new Map())
          return name
        }),
      writePart: (_key, name, number, stream) =>
        Effect.flatMap(collect(stream), (bytes) => {
          const parts = open.get(name)
          if (parts === undefined) return Effect.fail(notFound)
          parts.set(number, bytes)
          return written(bytes)
        }),
      joinParts: (key, name, chosen) =>
        Effect.suspend(() => {
          const parts = open.get(name)
          // Joined before: what it came to is under the key.
          if (parts === undefined) return Effect.flatMap(find(key), written)
          const found = chosen.flatMap(({ number }) => parts.get(number) ?? [])
          if (found.length !== chosen.length) return Effect.fail(notFound)
          const bytes = Bytes.concat(found)
          blobs.set(key, bytes)
          open.delete(name)
          return written(bytes)
        }),
      dropParts: (_key, name) => Effect.sync(() => void open.delete(name))
    })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))

const notFound = new NotFound({ resource: "blob" })

const collect = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (chunks) => Bytes.concat(chunks))
