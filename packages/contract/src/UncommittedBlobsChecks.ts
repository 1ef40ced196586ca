/** Contract of `FileStore` for reservations of blobs that no file uses. */
import { assert } from "@effect/vitest"
import type { FileStore, TenantStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { blobKey, file, fileId, put, setUp, terms } from "./FileStoreSamples.ts"
import { at, envId, orgId } from "./Samples.ts"

/** Takes the keys whose reservation has expired at `millis`, for 1000 ms. */
const takeAt = (store: FileStore["Service"], millis: number, limit = 100) =>
  store.claimExpired(at(millis), at(millis + 1000), limit)

export const uncommittedBlobsChecks: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("takes a reserved key when its reservation expires, and not before", function* () {
    const store = yield* setUp
    yield* store.reserve("b", at(20))
    yield* store.reserve("a", at(10))
    assert.deepStrictEqual(yield* takeAt(store, 9), [])
    assert.deepStrictEqual(yield* takeAt(store, 10), ["a"])
    assert.deepStrictEqual(yield* takeAt(store, 20), ["b"])
  }),

  check("takes a key with an extended reservation at the new time", function* () {
    const store = yield* setUp
    yield* store.reserve("a", at(10))
    assert.isTrue(yield* store.extend("a", at(40)))
    assert.deepStrictEqual(yield* takeAt(store, 39), [])
    yield* store.reserve("a", at(60))
    assert.deepStrictEqual(yield* takeAt(store, 59), [])
    assert.deepStrictEqual(yield* takeAt(store, 60), ["a"])
    assert.isFalse(yield* store.extend("never reserved", at(10)))
    assert.deepStrictEqual(yield* takeAt(store, 59), [])
  }),

  check("takes the oldest keys first, and retries taken ones last", function* () {
    const store = yield* setUp
    for (const n of [3, 1, 4, 2, 5]) yield* store.reserve(`key${n}`, at(n))
    assert.sameMembers([...(yield* takeAt(store, 100, 2))], ["key1", "key2"])
    assert.sameMembers([...(yield* takeAt(store, 100, 2))], ["key3", "key4"])
    assert.deepStrictEqual(yield* takeAt(store, 100, 2), ["key5"])
    assert.deepStrictEqual(yield* takeAt(store, 1099), [])
    yield* store.reserve("key6", at(1000))
    assert.deepStrictEqual(yield* takeAt(store, 1100, 1), ["key6"])
    assert.strictEqual((yield* takeAt(store, 1100)).length, 5)
  }),

  check("gives concurrent callers disjoint keys", function* () {
    const store = yield* setUp
    for (let n = 0; n < 40; n++) yield* store.reserve(`key${n}`, at(n))
    const taken = yield* Effect.replicateEffect(takeAt(store, 100, 10), 6, { concurrency: "unbounded" })
    assert.strictEqual(taken.flat().length, 40)
    assert.strictEqual(new Set(taken.flat()).size, 40)
  }),

  check("neither extends, reserves nor stores a taken key", function* () {
    const store = yield* setUp
    yield* store.reserve(blobKey(1), at(10))
    yield* takeAt(store, 10)
    assert.isFalse(yield* store.extend(blobKey(1), at(5000)))
    yield* store.reserve(blobKey(1), at(5000))
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
    assert.strictEqual((yield* Effect.flip(store.find(envId(1), "path/1")))._tag, "NotFound")
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 0)
    assert.deepStrictEqual(yield* takeAt(store, 1010), [blobKey(1)])
  }),

  check("forgets a key permanently, and no others", function* () {
    const store = yield* setUp
    for (const key of ["a", "b", "c"]) yield* store.reserve(key, at(10))
    yield* takeAt(store, 10)
    yield* store.release(["a", "c", "unknown"])
    yield* store.release([])
    assert.deepStrictEqual(yield* takeAt(store, 5000), ["b"])
    assert.isFalse(yield* store.extend("a", at(9000)))
  }),

  check("releases the reservation of a stored file, and stores no file without one", function* () {
    const store = yield* setUp
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
    yield* put(file(1))
    assert.isFalse(yield* store.extend(blobKey(1), at(5000)))
    assert.deepStrictEqual(yield* takeAt(store, 5000), [])
    assert.deepStrictEqual(yield* store.store(file(1), terms()), { _tag: "BytesGone" })
  }),

  check("keeps the reservation of a rejected file", function* () {
    const store = yield* setUp
    yield* put(file(1), terms({ mayCreate: false }))
    yield* put(file(2), terms({ storage_bytes: 1 }))
    assert.sameMembers([...(yield* takeAt(store, 100))], [blobKey(1), blobKey(2)])
  }),

  check("reserves the key of a replaced or removed file until the given time", function* () {
    const store = yield* setUp
    yield* put(file(1))
    yield* put(file(2, { path: "path/1" }), terms({ reclaimAt: at(700) }))
    assert.deepStrictEqual(yield* takeAt(store, 699), [])
    assert.deepStrictEqual(yield* takeAt(store, 700), [blobKey(1)])
    yield* store.release([blobKey(1)])
    yield* store.remove(envId(1), fileId(1), at(3000))
    assert.deepStrictEqual(yield* takeAt(store, 2999), [])
    assert.deepStrictEqual(yield* takeAt(store, 3000), [blobKey(2)])
  })
]
