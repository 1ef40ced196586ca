/** Contract of `BlobStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { BlobStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { blobStorePartChecks } from "./BlobStorePartChecks.ts"
import { bytes, isSame } from "./BlobStoreSamples.ts"
import { blobStoreStreamChecks } from "./BlobStoreStreamChecks.ts"
import { type Check, check, suite } from "./Check.ts"

export const blobStoreContract = <E>(adapter: string, layer: Layer.Layer<BlobStore, E>) =>
  suite(`BlobStore contract: ${adapter}`, blobStoreChecks, layer)

const wholeChecks: ReadonlyArray<Check<BlobStore>> = [
  check("names its backend", function* () {
    assert.isNotEmpty((yield* BlobStore).backend)
  }),

  check("is not empty with one blob", function* () {
    const store = yield* BlobStore
    yield* store.put("builds/1/zip", bytes(3))
    assert.isFalse(yield* store.isEmpty ?? Effect.succeed(false))
  }),

  check("returns bytes as they were put, from none to many", function* () {
    const store = yield* BlobStore
    for (const length of [0, 1, 255, 65_537, 3 * 1024 * 1024 + 1]) {
      yield* store.put(`builds/${length}/index.zip`, bytes(length))
    }
    for (const length of [0, 1, 255, 65_537, 3 * 1024 * 1024 + 1]) {
      const read = yield* store.get(`builds/${length}/index.zip`)
      assert.strictEqual(read.length, length)
      assert.isTrue(isSame(read, bytes(length)))
    }
  }),

  check("fails with NotFound for an unknown key, also for a prefix of a known one", function* () {
    const store = yield* BlobStore
    yield* store.put("builds/1/zip", bytes(3))
    for (const key of ["nothing", "builds", "builds/1", "builds/1/zi", "builds/1/zip2", "builds/2/zip"]) {
      assert.strictEqual((yield* Effect.flip(store.get(key))).message, "There is no such blob")
    }
  }),

  check("put replaces the stored bytes completely", function* () {
    const store = yield* BlobStore
    yield* store.put("a/b", bytes(1000))
    yield* store.put("a/b", bytes(10, 7))
    assert.deepStrictEqual([...(yield* store.get("a/b"))], [...bytes(10, 7)])
  }),

  check("keeps keys separate", function* () {
    const store = yield* BlobStore
    const keys = ["a", "a.b", "b/a", "b/A-1_2.3", "b/a.zip", "b/c/a"]
    for (const [index, key] of keys.entries()) yield* store.put(key, bytes(4, index))
    yield* store.remove("b/a")
    yield* store.remove("b/c")
    for (const [index, key] of keys.entries()) {
      if (key === "b/a") assert.strictEqual((yield* Effect.flip(store.get(key)))._tag, "NotFound")
      else assert.deepStrictEqual([...(yield* store.get(key))], [...bytes(4, index)])
    }
  }),

  check("removes a key, and succeeds when it is removed again", function* () {
    const store = yield* BlobStore
    yield* store.put("a/b", bytes(3))
    yield* store.remove("a/b")
    yield* store.remove("a/b")
    yield* store.remove("never/there")
    assert.strictEqual((yield* Effect.flip(store.get("a/b")))._tag, "NotFound")
    yield* store.put("a/b", bytes(2))
    assert.strictEqual((yield* store.get("a/b")).length, 2)
  }),

  check("is not affected by changes of a buffer after put or get", function* () {
    const store = yield* BlobStore
    const buffer = bytes(8)
    yield* store.put("a", buffer)
    buffer.fill(0)
    ;(yield* store.get("a")).fill(0)
    assert.deepStrictEqual([...(yield* store.get("a"))], [...bytes(8)])
  }),

  check("stores only the view of a larger buffer", function* () {
    const store = yield* BlobStore
    yield* store.put("a", bytes(100).subarray(10, 14))
    assert.deepStrictEqual([...(yield* store.get("a"))], [...bytes(100).slice(10, 14)])
  }),

  check("stores exactly one of concurrent puts on one key", function* () {
    const store = yield* BlobStore
    const size = 200_000
    const puts = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => store.put("a/b", bytes(size, seed)))
    yield* Effect.all(puts, { concurrency: "unbounded" })
    const read = yield* store.get("a/b")
    assert.isTrue([1, 2, 3, 4, 5, 6, 7, 8].some((seed) => isSame(read, bytes(size, seed))))
  }),

  check("shows a reader either the old or the new bytes during puts", function* () {
    const store = yield* BlobStore
    const size = 200_000
    yield* store.put("a", bytes(size, 0))
    const write = Effect.forEach([1, 2, 3, 4, 5], (seed) => store.put("a", bytes(size, seed)))
    const read = Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () =>
      Effect.map(store.get("a"), (found) => {
        const seed = found[0] ?? 0
        assert.isTrue(isSame(found, bytes(size, seed)))
      })
    )
    yield* Effect.all([write, read], { concurrency: "unbounded" })
  })
]

export const blobStoreChecks: ReadonlyArray<Check<BlobStore>> = [
  ...wholeChecks,
  ...blobStoreStreamChecks,
  ...blobStorePartChecks
]
