/** `BlobStore` in memory: the executable specification. */
import { Bytes, Effect, Layer, Stream } from "effect"
import { Digest } from "effect/crypto"
import { NotFound } from "../foundation/Errors.ts"
import { BlobStore, type WrittenBlob } from "../platform/blobs/BlobStore.ts"

interface Part extends WrittenBlob {
  readonly bytes: Uint8Array
}

/** Parts under the name that `beginParts` returned; removed when they are joined or dropped. */
type Parts = Map<number, Part>

interface Blob {
  readonly bytes: Uint8Array
  /** Name of the parts that were joined to this blob, or null. */
  readonly parts: string | null
}

export const layer: Layer.Layer<BlobStore> = Layer.effect(
  BlobStore,
  Effect.gen(function* () {
    const { digestHex } = yield* Digest.Digest
    const blobs = new Map<string, Blob>()
    const open = new Map<string, Parts>()
    let partsCount = 0

    const find = (key: string) =>
      Effect.suspend(() => {
        const blob = blobs.get(key)
        return blob === undefined ? Effect.fail(notFound) : Effect.succeed(blob)
      })
    const written = (bytes: Uint8Array) =>
      Effect.map(digestHex(Digest.sha256, bytes), (digest) => ({ size: bytes.length, digest }))

    return BlobStore.of({
      backend: "memory",
      newHash: () => {
        const chunks: Array<Uint8Array> = []
        return {
          update: (bytes) => void chunks.push(bytes.slice()),
          digest: Effect.suspend(() => digestHex(Digest.sha256, Bytes.concat(chunks)))
        }
      },
      isEmpty: Effect.sync(() => blobs.size === 0),
      // Copies in both directions: changes to a caller's bytes must not affect the stored ones.
      put: (key, bytes) => Effect.sync(() => void blobs.set(key, { bytes: bytes.slice(), parts: null })),
      get: (key) => Effect.map(find(key), ({ bytes }) => bytes.slice()),
      remove: (key) => Effect.sync(() => void blobs.delete(key)),

      write: (key, stream) =>
        Effect.flatMap(collect(stream), (bytes) => {
          blobs.set(key, { bytes, parts: null })
          return written(bytes)
        }),
      read: (key, range) =>
        Effect.map(find(key), ({ bytes }) => Stream.make(bytes.slice(range?.start ?? 0, range?.end ?? bytes.length))),
      address: () => Effect.succeed(null),

      beginParts: (key) =>
        Effect.sync(() => {
          const name = `${key}#${++partsCount}`
          open.set(name, new Map())
          return name
        }),
      writePart: (_key, name, number, stream) =>
        Effect.gen(function* () {
          const bytes = yield* collect(stream)
          const part = { ...(yield* written(bytes)), bytes }
          const parts = open.get(name)
          if (parts === undefined) return yield* notFound
          parts.set(number, part)
          return { size: part.size, digest: part.digest }
        }),
      joinParts: (key, name, chosen) =>
        Effect.suspend(() => {
          const parts = open.get(name)
          // Joined before: the key has the resulting blob.
          if (parts === undefined) {
            return Effect.flatMap(find(key), (blob) =>
              blob.parts === name ? written(blob.bytes) : Effect.fail(notFound)
            )
          }
          const found = chosen.flatMap(({ number, digest }) => {
            const part = parts.get(number)
            return part?.digest === digest ? part.bytes : []
          })
          if (found.length !== chosen.length) return Effect.fail(notFound)
          const bytes = Bytes.concat(found)
          blobs.set(key, { bytes, parts: name })
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
