/** Contract of `BlobStore` for streams. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { BlobStore } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import { bytes, collected, failing, interrupted, isSame, readAll, streamed } from "./BlobStoreSamples.ts"
import { type Check, check } from "./Check.ts"

export const blobStoreStreamChecks: ReadonlyArray<Check<BlobStore>> = [
  check("returns a stream as it was written, for any chunk sizes", function* () {
    const store = yield* BlobStore
    for (const [length, piece] of [
      [0, 1],
      [1, 1],
      [777, 1],
      [65_536, 65_536],
      [300_001, 65_537],
      [1_000_000, 40_000],
      [3_000_000, 3_000_000]
    ] as const) {
      const whole = bytes(length, piece)
      assert.strictEqual((yield* store.write("files/a", streamed(whole, piece))).size, length)
      assert.isTrue(isSame(yield* store.get("files/a"), whole), `get of ${length}`)
      assert.isTrue(isSame(yield* readAll(store, "files/a"), whole), `read of ${length}`)
    }
  }),

  check("hashes as it digests, and the digests of streams and parts begin with the SHA-256", function* () {
    const store = yield* BlobStore
    for (const length of [0, 1, 100_001]) {
      const whole = bytes(length, 7)
      const hash = store.newHash()
      const chunk = whole.slice(0, 1000)
      hash.update(chunk)
      chunk.fill(0)
      hash.update(whole.subarray(1000))
      const expected = createHash("sha256").update(whole).digest("hex")
      assert.strictEqual(yield* hash.digest, expected)
      assert.strictEqual((yield* store.write("files/a", streamed(whole, 999))).digest, expected)
      const parts = yield* store.beginParts("files/b")
      const part = yield* store.writePart("files/b", parts, 1, streamed(whole, 999))
      assert.isTrue(part.digest.startsWith(expected))
      yield* store.dropParts("files/b", parts)
    }
  }),

  check("keeps the order of large and small chunks", function* () {
    const store = yield* BlobStore
    const sizes = [1, 40_000, 2, 70_000, 3, 3, 65_535, 1, 65_536, 0, 5]
    const pieces = sizes.map((size, index) => bytes(size, index))
    yield* store.write("a", Stream.fromIterable(pieces))
    assert.isTrue(isSame(yield* store.get("a"), yield* collected(Stream.fromIterable(pieces))))
  }),

  check("reads bytes from put as a stream, and written streams with get", function* () {
    const store = yield* BlobStore
    yield* store.put("a", bytes(100_000))
    assert.isTrue(isSame(yield* readAll(store, "a"), bytes(100_000)))
    yield* store.write("a", streamed(bytes(50_000, 2), 999))
    assert.isTrue(isSame(yield* store.get("a"), bytes(50_000, 2)))
    yield* store.put("a", bytes(10, 3))
    assert.isTrue(isSame(yield* readAll(store, "a"), bytes(10, 3)))
  }),

  check("returns digests that depend on the content only", function* () {
    const store = yield* BlobStore
    const first = yield* store.write("a", streamed(bytes(10_000), 10_000))
    const same = yield* store.write("b", streamed(bytes(10_000), 7))
    const other = yield* store.write("a", streamed(bytes(10_000, 2), 10_000))
    const empty = yield* store.write("c", Stream.empty)
    assert.match(first.digest, /^[A-Za-z0-9]+$/)
    assert.strictEqual(same.digest, first.digest)
    assert.strictEqual(new Set([first.digest, other.digest, empty.digest]).size, 3)
  }),

  check("reads exactly the bytes of a range", function* () {
    const store = yield* BlobStore
    const whole = bytes(400_000)
    yield* store.write("a", streamed(whole, 65_536))
    for (const [start, end] of [
      [0, 400_000],
      [0, 1],
      [399_999, 400_000],
      [0, 0],
      [400_000, 400_000],
      [131_071, 131_073],
      [1, 300_000]
    ] as const) {
      const read = yield* readAll(store, "a", { start, end })
      assert.isTrue(isSame(read, whole.subarray(start, end)), `${start} to ${end}`)
    }
  }),

  check("read fails with NotFound for an unknown key", function* () {
    const store = yield* BlobStore
    yield* store.write("a/b", streamed(bytes(3), 3))
    for (const key of ["a", "b", "a/b2"]) {
      assert.strictEqual((yield* Effect.flip(Effect.scoped(store.read(key))))._tag, "NotFound")
    }
  }),

  check("keeps the old bytes when a stream fails, and passes on its error", function* () {
    const store = yield* BlobStore
    yield* store.put("a", bytes(10))
    for (const length of [0, 500, 200_000]) {
      assert.strictEqual(yield* Effect.flip(store.write("a", failing(bytes(length)))), "torn")
      assert.strictEqual(yield* Effect.flip(store.write("b", failing(bytes(length)))), "torn")
      assert.isTrue(isSame(yield* store.get("a"), bytes(10)))
      assert.strictEqual((yield* Effect.flip(store.get("b")))._tag, "NotFound")
    }
  }),

  check("keeps the old bytes when a write is interrupted", function* () {
    const store = yield* BlobStore
    yield* store.put("a", bytes(10))
    yield* interrupted(bytes(200_000), (stream) => store.write("a", stream))
    yield* interrupted(bytes(200_000), (stream) => store.write("b", stream))
    assert.isTrue(isSame(yield* store.get("a"), bytes(10)))
    assert.strictEqual((yield* Effect.flip(store.get("b")))._tag, "NotFound")
  }),

  check("a reader continues with the old bytes when the blob is replaced or removed", function* () {
    const store = yield* BlobStore
    const size = 600_000
    for (const change of [
      store.put("a", bytes(size, 2)),
      store.write("a", streamed(bytes(size, 3), 50_000)),
      store.remove("a")
    ]) {
      yield* store.write("a", streamed(bytes(size), 50_000))
      const read = Effect.scoped(
        Effect.gen(function* () {
          const stream = yield* store.read("a")
          yield* change
          return yield* collected(stream)
        })
      )
      assert.isTrue(isSame(yield* read, bytes(size)))
    }
  }),

  check("is not affected by a reader that stops early", function* () {
    const store = yield* BlobStore
    yield* store.write("a", streamed(bytes(600_000), 50_000))
    const first = yield* Effect.scoped(Effect.flatMap(store.read("a"), (stream) => Stream.runHead(stream)))
    assert.strictEqual(first._tag, "Some")
    assert.isTrue(isSame(yield* readAll(store, "a"), bytes(600_000)))
  }),

  check("stores exactly one of concurrent writes on one key", function* () {
    const store = yield* BlobStore
    const seeds = [1, 2, 3, 4, 5, 6]
    const written = yield* Effect.all(
      seeds.map((seed) => store.write("a/b", streamed(bytes(150_000, seed), 10_000))),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set(written.map(({ digest }) => digest)).size, seeds.length)
    const read = yield* store.get("a/b")
    assert.isTrue(seeds.some((seed) => isSame(read, bytes(150_000, seed))))
  })
]
