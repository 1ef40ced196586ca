import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { BlobPart, BlobStore } from "@weft/core/adapter"
import { type S3Server, s3Server } from "@weft/tooling/services"
import { Effect, Exit, Stream } from "effect"
import { checkMebibytes, inBucket, MiB, mebibytes, newBucket, objectsIn, uploadsIn } from "./TestBucket.ts"

let server: S3Server
beforeAll(async () => {
  server = await s3Server()
}, 180_000)
afterAll(() => server.remove())

type Store = BlobStore["Service"]

const part = (store: Store, parts: string, number: number, count: number, first: number) =>
  Effect.map(
    store.writePart("files/a", parts, number, mebibytes(count, first)),
    (written): BlobPart => ({
      number,
      ...written
    })
  )

const readAll = (store: Store, key: string) => Effect.scoped(Effect.flatMap(store.read(key), checkMebibytes))

describe("streams of many blocks", () => {
  it.live("are read as they were written, completely and in ranges, and leave only the blob", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        for (const count of [8, 9, 16, 21]) {
          const { size } = yield* store.write("files/a", mebibytes(count))
          assert.strictEqual(size, count * MiB)
          assert.strictEqual(yield* readAll(store, "files/a"), size)
          const range = { start: (count - 3) * MiB, end: count * MiB }
          const read = Effect.scoped(
            Effect.flatMap(store.read("files/a", range), (bytes) => checkMebibytes(bytes, count - 3))
          )
          assert.strictEqual(yield* read, 3 * MiB)
        }
        assert.deepStrictEqual(yield* objectsIn(options), ["content/files/a"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })

  it.live("have the same digest as one chunk and as many chunks", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        const { digest } = yield* store.write("a", mebibytes(17))
        const whole = new Uint8Array(17 * MiB)
        for (let at = 0; at < whole.length; at++) whole[at] = Math.floor(at / MiB)
        assert.strictEqual((yield* store.write("b", Stream.make(whole.slice()))).digest, digest)
        yield* store.put("c", whole)
        assert.strictEqual(yield* readAll(store, "c"), whole.length)
      })
    )
  )

  it.live("keep only a few blocks in memory at any length", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        yield* store.write("a", mebibytes(8))
        const before = process.memoryUsage().rss
        let peak = 0
        const watched = Stream.tap(mebibytes(96), () =>
          Effect.sync(() => {
            peak = Math.max(peak, process.memoryUsage().rss - before)
          })
        )
        yield* store.write("a", watched)
        const read = Effect.scoped(
          Effect.flatMap(store.read("a"), (bytes) =>
            Stream.runForEach(bytes, () =>
              Effect.sync(() => {
                peak = Math.max(peak, process.memoryUsage().rss - before)
              })
            )
          )
        )
        yield* read
        assert.isBelow(peak / MiB, 80)
      })
    )
  )

  it.live("leave nothing when they fail", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        yield* store.put("files/a", new Uint8Array([7]))
        const torn = Stream.concat(mebibytes(20), Stream.fail("torn" as const))
        assert.strictEqual(yield* Effect.flip(store.write("files/a", torn)), "torn")
        const parts = yield* store.beginParts("files/a")
        assert.strictEqual(yield* Effect.flip(store.writePart("files/a", parts, 1, torn)), "torn")
        yield* store.dropParts("files/a", parts)
        assert.deepStrictEqual([...(yield* store.get("files/a"))], [7])
        assert.deepStrictEqual(yield* objectsIn(options), ["content/files/a"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })
})

describe("parts of at least S3's minimum size", () => {
  it.live("are joined by S3 itself, with a small last one, and leave only the blob", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        const parts = yield* store.beginParts("files/a")
        const chosen = [
          yield* part(store, parts, 1, 5, 0),
          // Larger than the blocks in memory.
          yield* part(store, parts, 2, 20, 5),
          yield* part(store, parts, 3, 16, 25),
          yield* part(store, parts, 4, 1, 41)
        ]
        yield* part(store, parts, 5, 2, 99)
        const written = yield* store.joinParts("files/a", parts, chosen)
        assert.strictEqual(written.size, 42 * MiB)
        assert.strictEqual(yield* readAll(store, "files/a"), 42 * MiB)
        assert.deepStrictEqual(yield* store.joinParts("files/a", parts, chosen), written)
        for (const count of [1, 6, 17]) {
          assert.strictEqual((yield* Effect.flip(part(store, parts, 1, count, 0)))._tag, "NotFound")
        }
        yield* store.dropParts("files/a", parts)
        assert.strictEqual(yield* readAll(store, "files/a"), 42 * MiB)
        assert.deepStrictEqual(yield* objectsIn(options), ["content/files/a"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })

  it.live("replace earlier parts of the same number, larger or smaller", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        for (const [before, after] of [
          [6, 5],
          [1, 6],
          [6, 1],
          [18, 6],
          [1, 18]
        ] as const) {
          const parts = yield* store.beginParts("files/a")
          const first = yield* part(store, parts, 1, 5, 0)
          const earlier = yield* part(store, parts, 2, before, 50)
          const later = yield* part(store, parts, 2, after, 5)
          const refused = yield* Effect.flip(store.joinParts("files/a", parts, [first, earlier]))
          assert.strictEqual(refused._tag, "NotFound", `${before}, then ${after}`)
          yield* store.joinParts("files/a", parts, [first, later])
          assert.strictEqual(yield* readAll(store, "files/a"), (5 + after) * MiB)
        }
      })
    )
  )

  it.live("are written concurrently, and dropped completely", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        const parts = yield* store.beginParts("files/a")
        yield* Effect.forEach([1, 2, 3], (number) => part(store, parts, number, number * 6, 0), { concurrency: 3 })
        yield* part(store, parts, 4, 1, 0)
        yield* store.dropParts("files/a", parts)
        yield* store.dropParts("files/a", parts)
        assert.deepStrictEqual(yield* objectsIn(options), [])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
        assert.strictEqual((yield* Effect.flip(part(store, parts, 1, 6, 0)))._tag, "NotFound")
      })
    )
  })

  it.live("in an order that S3 cannot join are a defect of the caller", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        const parts = yield* store.beginParts("files/a")
        const large = yield* part(store, parts, 2, 6, 0)
        const small = yield* part(store, parts, 1, 1, 0)
        const exit = yield* Effect.exit(store.joinParts("files/a", parts, [small, large]))
        assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons[0]?._tag === "Die")
        yield* store.dropParts("files/a", parts)
      })
    )
  )
})
