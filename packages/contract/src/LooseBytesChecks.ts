/** The part of the contract of `FileStore` that is about bytes which no file has. */
import { assert } from "@effect/vitest"
import type { FileStore, TenantStore } from "@weft/core"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { file, fileId, keyOf, put, setUp, terms } from "./FileStoreSamples.ts"
import { at, envId, orgId } from "./Samples.ts"

/** The loose keys whose instant has passed at `millis`, taken for 1000. */
const takeAt = (store: FileStore["Service"], millis: number, limit = 100) =>
  store.takeLoose(at(millis), at(millis + 1000), limit)

export const looseBytesChecks: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("a key that was announced is taken when its instant has passed, and not before", function* () {
    const store = yield* setUp
    yield* store.announce("b", at(20))
    yield* store.announce("a", at(10))
    assert.deepStrictEqual(yield* takeAt(store, 9), [])
    assert.deepStrictEqual(yield* takeAt(store, 10), ["a"])
    assert.deepStrictEqual(yield* takeAt(store, 20), ["b"])
  }),

  check("a key whose instant is moved is taken at the new one", function* () {
    const store = yield* setUp
    yield* store.announce("a", at(10))
    assert.isTrue(yield* store.extend("a", at(40)))
    assert.deepStrictEqual(yield* takeAt(store, 39), [])
    yield* store.announce("a", at(60))
    assert.deepStrictEqual(yield* takeAt(store, 59), [])
    assert.deepStrictEqual(yield* takeAt(store, 60), ["a"])
    assert.isFalse(yield* store.extend("never announced", at(10)))
    assert.deepStrictEqual(yield* takeAt(store, 59), [])
  }),

  check("the oldest are taken first, and those that were taken come last again", function* () {
    const store = yield* setUp
    for (const n of [3, 1, 4, 2, 5]) yield* store.announce(`key${n}`, at(n))
    assert.sameMembers([...(yield* takeAt(store, 100, 2))], ["key1", "key2"])
    assert.sameMembers([...(yield* takeAt(store, 100, 2))], ["key3", "key4"])
    assert.deepStrictEqual(yield* takeAt(store, 100, 2), ["key5"])
    assert.deepStrictEqual(yield* takeAt(store, 1099), [])
    yield* store.announce("key6", at(1000))
    assert.deepStrictEqual(yield* takeAt(store, 1100, 1), ["key6"])
    assert.strictEqual((yield* takeAt(store, 1100)).length, 5)
  }),

  check("what two take at once, each has alone", function* () {
    const store = yield* setUp
    for (let n = 0; n < 40; n++) yield* store.announce(`key${n}`, at(n))
    const taken = yield* Effect.replicateEffect(takeAt(store, 100, 10), 6, { concurrency: "unbounded" })
    assert.strictEqual(taken.flat().length, 40)
    assert.strictEqual(new Set(taken.flat()).size, 40)
  }),

  check("a key that was taken can neither be extended nor announced nor stored", function* () {
    const store = yield* setUp
    yield* store.announce(keyOf(1), at(10))
    yield* takeAt(store, 10)
    assert.isFalse(yield* store.extend(keyOf(1), at(5000)))
    yield* store.announce(keyOf(1), at(5000))
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
    assert.strictEqual((yield* Effect.flip(store.find(envId(1), "path/1")))._tag, "NotFound")
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 0)
    assert.deepStrictEqual(yield* takeAt(store, 1010), [keyOf(1)])
  }),

  check("a key is forgotten for good, and others are not", function* () {
    const store = yield* setUp
    for (const key of ["a", "b", "c"]) yield* store.announce(key, at(10))
    yield* takeAt(store, 10)
    yield* store.forget(["a", "c", "unknown"])
    yield* store.forget([])
    assert.deepStrictEqual(yield* takeAt(store, 5000), ["b"])
    assert.isFalse(yield* store.extend("a", at(9000)))
  }),

  check("storing a file takes the note of its key away, and no file is stored without one", function* () {
    const store = yield* setUp
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
    yield* put(file(1))
    assert.isFalse(yield* store.extend(keyOf(1), at(5000)))
    assert.deepStrictEqual(yield* takeAt(store, 5000), [])
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
  }),

  check("a file that is refused leaves its note", function* () {
    const store = yield* setUp
    yield* put(file(1), terms({ mayCreate: false }))
    yield* put(file(2), terms({ storage_bytes: 1 }))
    assert.sameMembers([...(yield* takeAt(store, 100))], [keyOf(1), keyOf(2)])
  }),

  check("the key of a file that is replaced or removed is loose until the instant that was given", function* () {
    const store = yield* setUp
    yield* put(file(1))
    yield* put(file(2, { path: "path/1" }), terms({ looseUntil: at(700) }))
    assert.deepStrictEqual(yield* takeAt(store, 699), [])
    assert.deepStrictEqual(yield* takeAt(store, 700), [keyOf(1)])
    yield* store.forget([keyOf(1)])
    yield* store.remove(envId(1), fileId(1), at(3000))
    assert.deepStrictEqual(yield* takeAt(store, 2999), [])
    assert.deepStrictEqual(yield* takeAt(store, 3000), [keyOf(2)])
  })
]
