/** Contract of `BlobStore` for blobs in parts. */
import { assert } from "@effect/vitest"
import type { NotFound, StoreUnavailable } from "@weft/core"
import { type BlobPart, BlobStore } from "@weft/core/adapter"
import { Bytes, Effect } from "effect"
import { bytes, collected, failing, interrupted, isSame, readAll, streamed } from "./BlobStoreSamples.ts"
import { type Check, check } from "./Check.ts"

type Store = BlobStore["Service"]

interface PartOptions {
  /** Key of the blob that the parts belong to. */
  readonly key?: string
  readonly size?: number
  readonly seed?: number
}

/** Writes a part with content derived from its number and seed. */
const writePart = (
  store: Store,
  parts: string,
  number: number,
  { key = "files/a", size = 1000, seed = number }: PartOptions = {}
): Effect.Effect<BlobPart, NotFound | StoreUnavailable> =>
  Effect.map(store.writePart(key, parts, number, streamed(bytes(size, seed), 700)), (written) => ({
    number,
    ...written
  }))

const joined = (store: Store, numbers: ReadonlyArray<number>, size = 1000) =>
  Effect.gen(function* () {
    const parts = yield* store.beginParts("files/a")
    const chosen = yield* Effect.forEach(numbers, (number) => writePart(store, parts, number, { size }))
    return { parts, chosen, written: yield* store.joinParts("files/a", parts, chosen) }
  })

const concat = (...wholes: ReadonlyArray<Uint8Array>) => Bytes.concat(wholes)

const assertMissing = Effect.fnUntraced(function* (store: Store, key: string) {
  assert.strictEqual((yield* Effect.flip(store.get(key)))._tag, "NotFound")
  assert.strictEqual((yield* Effect.flip(Effect.scoped(store.read(key))))._tag, "NotFound")
})

export const blobStorePartChecks: ReadonlyArray<Check<BlobStore>> = [
  check("joins parts to one blob, which does not exist before", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const three = yield* writePart(store, parts, 3, { size: 5 })
    const one = yield* writePart(store, parts, 1, { size: 150_000 })
    const two = yield* writePart(store, parts, 2, { size: 70_000 })
    yield* assertMissing(store, "files/a")
    assert.deepStrictEqual([one.size, two.size, three.size], [150_000, 70_000, 5])
    assert.strictEqual((yield* store.joinParts("files/a", parts, [one, two, three])).size, 220_005)
    const whole = concat(bytes(150_000, 1), bytes(70_000, 2), bytes(5, 3))
    assert.isTrue(isSame(yield* store.get("files/a"), whole))
    assert.isTrue(isSame(yield* readAll(store, "files/a"), whole))
  }),

  check("reads ranges of a joined blob across its parts", function* () {
    const store = yield* BlobStore
    yield* joined(store, [1, 2, 3, 4])
    const whole = concat(...[1, 2, 3, 4].map((number) => bytes(1000, number)))
    for (const [start, end] of [
      [0, 4000],
      [999, 1001],
      [1000, 2000],
      [500, 3500],
      [3999, 4000],
      [2000, 2000],
      [4000, 4000]
    ] as const) {
      const read = yield* readAll(store, "files/a", { start, end })
      assert.isTrue(isSame(read, whole.subarray(start, end)), `${start} to ${end}`)
    }
  }),

  check("joins the chosen parts in the given order, without the others", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const [one, , three, four] = yield* Effect.all([1, 2, 3, 4].map((number) => writePart(store, parts, number)))
    assert.isDefined(one)
    assert.isDefined(three)
    assert.isDefined(four)
    yield* store.joinParts("files/a", parts, [four, one, three])
    assert.isTrue(isSame(yield* store.get("files/a"), concat(bytes(1000, 4), bytes(1000, 1), bytes(1000, 3))))
  }),

  check("joins no parts, or empty ones, to an empty blob", function* () {
    const store = yield* BlobStore
    const none = yield* store.beginParts("files/a")
    assert.strictEqual((yield* store.joinParts("files/a", none, [])).size, 0)
    assert.strictEqual((yield* store.get("files/a")).length, 0)
    const { written } = yield* joined(store, [1, 2], 0)
    assert.strictEqual(written.size, 0)
    assert.strictEqual((yield* readAll(store, "files/a")).length, 0)
  }),

  check("replaces a part by a later one with the same number", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const earlier = yield* writePart(store, parts, 1, { seed: 7 })
    const later = yield* writePart(store, parts, 1, { seed: 8, size: 300 })
    assert.notStrictEqual(earlier.digest, later.digest)
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/a", parts, [earlier])))._tag, "NotFound")
    yield* store.joinParts("files/a", parts, [later])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(300, 8)))
  }),

  check("rejects a join whose digest does not match the part, also at the same size", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const earlier = yield* writePart(store, parts, 1, { seed: 7 })
    yield* writePart(store, parts, 1, { seed: 8 })
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/a", parts, [earlier])))._tag, "NotFound")
    yield* assertMissing(store, "files/a")
  }),

  check("changes nothing when a join names a missing part, and keeps the parts", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const one = yield* writePart(store, parts, 1)
    const absent = { ...one, number: 2 }
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/a", parts, [one, absent])))._tag, "NotFound")
    yield* assertMissing(store, "files/a")
    const two = yield* writePart(store, parts, 2)
    yield* store.joinParts("files/a", parts, [one, two])
    assert.isTrue(isSame(yield* store.get("files/a"), concat(bytes(1000, 1), bytes(1000, 2))))
  }),

  check("returns the same result when a join is repeated", function* () {
    const store = yield* BlobStore
    const { parts, chosen, written } = yield* joined(store, [1, 2])
    assert.deepStrictEqual(yield* store.joinParts("files/a", parts, chosen), written)
    assert.isTrue(isSame(yield* store.get("files/a"), concat(bytes(1000, 1), bytes(1000, 2))))
  }),

  check("joins the same parts once when concurrent joins run", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const chosen = yield* Effect.forEach([1, 2, 3], (number) => writePart(store, parts, number))
    const said = yield* Effect.replicateEffect(store.joinParts("files/a", parts, chosen), 5, { concurrency: 5 })
    assert.strictEqual(new Set(said.map(({ digest }) => digest)).size, 1)
    assert.strictEqual((yield* store.get("files/a")).length, 3000)
  }),

  check("accepts no further parts after a join or drop, and does not join again", function* () {
    const store = yield* BlobStore
    const { parts, chosen } = yield* joined(store, [1])
    assert.strictEqual((yield* Effect.flip(writePart(store, parts, 1, { seed: 9 })))._tag, "NotFound")
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 1)))
    // The current blob of the key is not made of these parts.
    yield* store.put("files/a", bytes(5))
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/a", parts, chosen)))._tag, "NotFound")

    const dropped = yield* store.beginParts("files/b")
    const part = yield* writePart(store, dropped, 1, { key: "files/b" })
    yield* store.dropParts("files/b", dropped)
    yield* store.dropParts("files/b", dropped)
    assert.strictEqual((yield* Effect.flip(writePart(store, dropped, 2, { key: "files/b" })))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/b", dropped, [part])))._tag, "NotFound")
    yield* assertMissing(store, "files/b")
  }),

  check("keeps the blob when its joined parts are dropped", function* () {
    const store = yield* BlobStore
    const { parts } = yield* joined(store, [1])
    yield* store.dropParts("files/a", parts)
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 1)))
  }),

  check("keeps the earlier part when a later write of its number fails or is interrupted", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const one = yield* writePart(store, parts, 1)
    assert.strictEqual(yield* Effect.flip(store.writePart("files/a", parts, 1, failing(bytes(100_000)))), "torn")
    assert.strictEqual(yield* Effect.flip(store.writePart("files/a", parts, 2, failing(bytes(10)))), "torn")
    yield* interrupted(bytes(100_000), (stream) => store.writePart("files/a", parts, 1, stream))
    yield* interrupted(bytes(10), (stream) => store.writePart("files/a", parts, 2, stream))
    const two = { ...one, number: 2 }
    assert.strictEqual((yield* Effect.flip(store.joinParts("files/a", parts, [one, two])))._tag, "NotFound")
    yield* store.joinParts("files/a", parts, [one])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 1)))
  }),

  check("writes parts concurrently, and stores exactly one of each number", function* () {
    const store = yield* BlobStore
    const parts = yield* store.beginParts("files/a")
    const size = 30_000
    const plain = [1, 2, 3, 4].map((number) => writePart(store, parts, number, { size }))
    const rivals = [10, 20, 30].map((seed) => writePart(store, parts, 5, { size, seed }))
    const written = yield* Effect.all([...plain, ...rivals], { concurrency: "unbounded" })
    const first = written.slice(0, 4)
    const joins = written
      .slice(4)
      .map((rival, index) => Effect.as(store.joinParts("files/a", parts, [...first, rival]), 10 * (index + 1)))
    const won = yield* Effect.firstSuccessOf(joins)
    const contents = [1, 2, 3, 4, won].map((seed) => bytes(size, seed))
    assert.isTrue(isSame(yield* store.get("files/a"), concat(...contents)))
  }),

  check("keeps the parts of different blobs, and of different uploads of one key, separate", function* () {
    const store = yield* BlobStore
    const [first, second] = [yield* store.beginParts("files/a"), yield* store.beginParts("files/a")]
    assert.notStrictEqual(first, second)
    const one = yield* writePart(store, first, 1, { seed: 1 })
    const other = yield* writePart(store, second, 1, { seed: 2 })
    yield* store.joinParts("files/a", second, [other])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 2)))
    yield* store.remove("files/a")
    yield* store.joinParts("files/a", first, [one])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 1)))
  }),

  check("replaces joined blobs by others and the reverse, and removes both", function* () {
    const store = yield* BlobStore
    yield* store.put("files/a", bytes(10))
    yield* joined(store, [1, 2])
    assert.strictEqual((yield* store.get("files/a")).length, 2000)
    yield* joined(store, [3])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 3)))
    yield* store.write("files/a", streamed(bytes(20), 3))
    assert.isTrue(isSame(yield* readAll(store, "files/a"), bytes(20)))
    yield* joined(store, [4])
    yield* store.put("files/a", bytes(30))
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(30)))
    yield* joined(store, [5])
    yield* store.remove("files/a")
    yield* assertMissing(store, "files/a")
    yield* joined(store, [6])
    assert.isTrue(isSame(yield* store.get("files/a"), bytes(1000, 6)))
  }),

  check("a reader continues through all parts when the blob is replaced or removed", function* () {
    const store = yield* BlobStore
    const size = 200_000
    const whole = concat(bytes(size, 1), bytes(size, 2), bytes(size, 3))
    for (const change of [
      store.remove("files/a"),
      store.put("files/a", bytes(3)),
      Effect.asVoid(joined(store, [4, 5], size))
    ]) {
      yield* joined(store, [1, 2, 3], size)
      const read = Effect.scoped(
        Effect.gen(function* () {
          const stream = yield* store.read("files/a")
          yield* change
          return yield* collected(stream)
        })
      )
      assert.isTrue(isSame(yield* read, whole))
    }
  }),

  check("returns different digests for different joined blobs", function* () {
    const store = yield* BlobStore
    const first = yield* joined(store, [1, 2])
    const same = yield* joined(store, [1, 2])
    const reversed = yield* joined(store, [2, 1])
    const fewer = yield* joined(store, [1])
    assert.match(first.written.digest, /^[A-Za-z0-9]+$/)
    assert.strictEqual(same.written.digest, first.written.digest)
    const digests = [first, reversed, fewer].map(({ written }) => written.digest)
    assert.strictEqual(new Set(digests).size, 3)
  })
]
