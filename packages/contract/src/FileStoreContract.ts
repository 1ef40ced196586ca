/** Contract of `FileStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import type { Page } from "@weft/core"
import type { FileFilter, FileStore, TenantStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { blobKey, file, fileId, put, setUp, terms } from "./FileStoreSamples.ts"
import { at, envId, everything, orgId, runId } from "./Samples.ts"
import { uncommittedBlobsChecks } from "./UncommittedBlobsChecks.ts"
import { uploadChecks } from "./UploadChecks.ts"

export const fileStoreContract = <E>(adapter: string, layer: Layer.Layer<FileStore | TenantStore, E>) =>
  suite(`FileStore contract: ${adapter}`, fileStoreChecks, layer)

const toPaths = ({ items, total }: Page<{ readonly path: string }>) => [total, ...items.map((item) => item.path)]

const storing: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("finds a file by id and by path, as it was stored", function* () {
    const store = yield* setUp
    const stored = file(1, {
      path: `Åse's "notes"/🧵 %_*?/ü\u{ffff}`,
      size: 50 * 1024 ** 3,
      created_by_run_id: runId(1),
      updated_by_run_id: runId(1)
    })
    assert.deepStrictEqual(yield* put(stored), { _tag: "Stored", file: stored })
    yield* put(file(2))
    assert.deepStrictEqual(yield* store.get(envId(1), fileId(1)), stored)
    assert.deepStrictEqual(yield* store.find(envId(1), stored.path), stored)
    assert.strictEqual((yield* Effect.flip(store.find(envId(1), "nothing"))).message, "There is no such file")
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), fileId(404))))._tag, "NotFound")
  }),

  check("fails with NotFound for a file of another environment, where the same path is another file", function* () {
    const store = yield* setUp
    yield* put(file(1))
    yield* put(file(2, { env_id: envId(2), path: "path/1" }))
    assert.strictEqual((yield* Effect.flip(store.get(envId(2), fileId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(envId(2), fileId(1), at(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.find(envId(3), "path/1")))._tag, "NotFound")
    assert.strictEqual((yield* store.find(envId(2), "path/1")).file_id, fileId(2))
    assert.deepStrictEqual(yield* store.get(envId(1), fileId(1)), file(1))
    assert.deepStrictEqual(toPaths(yield* store.list(envId(2), everything, {})), [1, "path/1"])
  }),

  check("distinguishes paths by case and by Unicode composition", function* () {
    const store = yield* setUp
    for (const [index, path] of ["a", "A", "\u00e9", "e\u0301"].entries()) yield* put(file(index, { path }))
    assert.strictEqual((yield* store.list(envId(1), everything, {})).total, 4)
    assert.strictEqual((yield* store.find(envId(1), "e\u0301")).file_id, fileId(3))
  }),

  check("keeps only the id and the creation fields of a replaced file", function* () {
    const store = yield* setUp
    yield* put(file(1, { created_by_run_id: runId(1), updated_by_run_id: runId(1) }))
    const second = file(2, { path: "path/1", updated_by_run_id: runId(2), created_by_run_id: runId(2) })
    const stored = { ...second, file_id: fileId(1), created_at: at(1), created_by_run_id: runId(1) }
    assert.deepStrictEqual(yield* put(second), { _tag: "Stored", file: stored })
    assert.deepStrictEqual(yield* store.get(envId(1), fileId(1)), stored)
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), fileId(2))))._tag, "NotFound")
    assert.strictEqual((yield* store.list(envId(1), everything, {})).total, 1)
  }),

  check("creates and replaces files only with the permission to do so", function* () {
    const store = yield* setUp
    assert.deepStrictEqual(yield* put(file(1), terms({ mayCreate: false })), { _tag: "MayNotCreate" })
    yield* put(file(1), terms({ mayReplace: false }))
    const again = file(2, { path: "path/1" })
    assert.deepStrictEqual(yield* put(again, terms({ mayReplace: false })), { _tag: "MayNotReplace" })
    assert.deepStrictEqual(yield* store.find(envId(1), "path/1"), file(1))
    assert.strictEqual((yield* put(again, terms({ mayCreate: false })))._tag, "Stored")
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 102)
  }),

  check("removes a file and frees its path", function* () {
    const store = yield* setUp
    yield* put(file(1))
    yield* store.remove(envId(1), fileId(1), at(500))
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), fileId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(envId(1), fileId(1), at(500))))._tag, "NotFound")
    yield* put(file(2, { path: "path/1" }))
    assert.strictEqual((yield* store.find(envId(1), "path/1")).file_id, fileId(2))
  })
]

const listing: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("lists files by path in byte order, in pages with the total", function* () {
    const store = yield* setUp
    // In UTF-16 order, \u{10000} would precede \uffee.
    const paths = ["A", "a", "a b", "a-b", "a/b", "a.b", "b", "é", "\uffee", "\u{10000}"]
    for (const [index, path] of [...paths].reverse().entries()) yield* put(file(index, { path }))
    yield* put(file(99, { env_id: envId(2) }))
    const sorted = ["A", "a", "a b", "a-b", "a.b", "a/b", "b", "é", "\uffee", "\u{10000}"]
    assert.deepStrictEqual(toPaths(yield* store.list(envId(1), everything, {})), [10, ...sorted])
    assert.deepStrictEqual(toPaths(yield* store.list(envId(1), { limit: 3, offset: 4 }, {})), [
      10,
      ...sorted.slice(4, 7)
    ])
    assert.deepStrictEqual(yield* store.list(envId(3), everything, {}), { items: [], total: 0 })
  }),

  check("restricts a list to paths with a prefix", function* () {
    const store = yield* setUp
    const paths = ["a", "a/b", "a/b/c", "ab", "a0", "A/b", "%", "_x", "\ud7ff", "\ud7ffx", "\ue000", "\u{10ffff}y"]
    for (const [index, path] of paths.entries()) yield* put(file(index, { path }))
    const list = (prefix: string) => Effect.map(store.list(envId(1), everything, { prefix }), toPaths)
    assert.deepStrictEqual(yield* list("a/"), [2, "a/b", "a/b/c"])
    assert.deepStrictEqual(yield* list("a"), [5, "a", "a/b", "a/b/c", "a0", "ab"])
    assert.deepStrictEqual(yield* list("a/b/c"), [1, "a/b/c"])
    assert.deepStrictEqual(yield* list("%"), [1, "%"])
    assert.deepStrictEqual(yield* list("_"), [1, "_x"])
    assert.deepStrictEqual(yield* list("\ud7ff"), [2, "\ud7ff", "\ud7ffx"])
    assert.deepStrictEqual(yield* list("\u{10ffff}"), [1, "\u{10ffff}y"])
    assert.deepStrictEqual(yield* list("nothing"), [0])
    assert.strictEqual((yield* list(""))[0], 12)
  }),

  check("restricts a list to named paths and folders", function* () {
    const store = yield* setUp
    const paths = ["a", "a/b", "a/b/c", "ab/c", "b/%", "b/x", "c/*", "c/d", "\u{1f9f5}/x"]
    for (const [index, path] of paths.entries()) yield* put(file(index, { path }))
    const list = (filter: FileFilter) => Effect.map(store.list(envId(1), everything, filter), toPaths)
    assert.deepStrictEqual(yield* list({ only: ["a/*"] }), [2, "a/b", "a/b/c"])
    assert.deepStrictEqual(yield* list({ only: ["a", "ab/*", "unknown"] }), [2, "a", "ab/c"])
    assert.deepStrictEqual(yield* list({ only: ["b/%", "b/%/*"] }), [1, "b/%"])
    assert.deepStrictEqual(yield* list({ only: ["c/*"] }), [2, "c/*", "c/d"])
    assert.deepStrictEqual(yield* list({ only: ["\u{1f9f5}/*"] }), [1, "\u{1f9f5}/x"])
    assert.deepStrictEqual(yield* list({ only: ["a/*", "a/b/*"], prefix: "a/b/" }), [1, "a/b/c"])
    assert.deepStrictEqual(yield* list({ only: ["a/*"], prefix: "ab" }), [0])
    assert.deepStrictEqual(yield* list({ only: [] }), [0])
    assert.deepStrictEqual(toPaths(yield* store.list(envId(1), { limit: 1, offset: 1 }, { only: ["a/*"] })), [
      2,
      "a/b/c"
    ])
  })
]

const counting: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("counts the files of all environments of an organization as its storage", function* () {
    const store = yield* setUp
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 0)
    yield* put(file(1, { size: 1000 }))
    yield* put(file(2, { size: 20, env_id: envId(2) }))
    yield* put(file(3, { size: 7, env_id: envId(3) }), terms({ org_id: orgId(2) }))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 1020)
    assert.strictEqual(yield* store.storageBytes(orgId(2)), 7)
    yield* put(file(4, { size: 300, path: "path/1" }))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 320)
    yield* store.remove(envId(1), fileId(1), at(1))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 20)
    yield* Effect.flip(store.remove(envId(1), fileId(1), at(1)))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 20)
  }),

  check("stores a file that fits exactly, and rejects one that is a byte larger", function* () {
    const store = yield* setUp
    const limited = terms({ storage_bytes: 1000 })
    yield* put(file(1, { size: 600 }), limited)
    assert.deepStrictEqual(yield* put(file(2, { size: 401, env_id: envId(2) }), limited), { _tag: "OverStorage" })
    assert.strictEqual((yield* put(file(3, { size: 400, env_id: envId(2) }), limited))._tag, "Stored")
    // A replacement may be as large as the old file, but not larger.
    assert.strictEqual((yield* put(file(4, { size: 600, path: "path/1" }), limited))._tag, "Stored")
    assert.strictEqual((yield* put(file(5, { size: 601, path: "path/1" }), limited))._tag, "OverStorage")
    assert.strictEqual((yield* store.find(envId(1), "path/1")).storage_path, blobKey(4))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 1000)
    assert.strictEqual((yield* put(file(6, { size: 0 }), limited))._tag, "Stored")
    assert.strictEqual((yield* put(file(7, { size: 5000 })))._tag, "Stored")
  }),

  check("accepts only empty files at a limit of 0 bytes", function* () {
    yield* setUp
    assert.strictEqual((yield* put(file(1, { size: 0 }), terms({ storage_bytes: 0 })))._tag, "Stored")
    assert.strictEqual((yield* put(file(2, { size: 1 }), terms({ storage_bytes: 0 })))._tag, "OverStorage")
  }),

  check("accepts no more concurrent files than the storage limit", function* () {
    const store = yield* setUp
    const limited = terms({ storage_bytes: 1000 })
    const results = yield* Effect.all(
      Array.from({ length: 50 }, (_, n) => put(file(n, { size: 90, env_id: envId((n % 2) + 1) }), limited)),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(results.filter((result) => result._tag === "Stored").length, 11)
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 990)
  }),

  check(
    "keeps one of many concurrent files on one path, and reserves the other keys for garbage collection",
    function* () {
      const store = yield* setUp
      const all = Array.from({ length: 50 }, (_, n) => file(n, { path: "one" }))
      const results = yield* Effect.all(
        all.map((stored) => put(stored)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every((result) => result._tag === "Stored"))
      const { items } = yield* store.list(envId(1), everything, {})
      assert.strictEqual(items.length, 1)
      assert.strictEqual(yield* store.storageBytes(orgId(1)), items[0]?.size)
      const loose = yield* store.claimExpired(at(10_000), at(20_000), 100)
      assert.sameMembers(
        [...loose, items[0]?.storage_path],
        all.map((stored) => stored.storage_path)
      )
    }
  )
]

export const fileStoreChecks: ReadonlyArray<Check<FileStore | TenantStore>> = [
  ...storing,
  ...listing,
  ...counting,
  ...uncommittedBlobsChecks,
  ...uploadChecks
]
