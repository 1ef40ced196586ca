/** Contract of `FileStore` for multipart uploads. */
import { assert } from "@effect/vitest"
import type { FileStore, TenantStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import {
  assembled,
  begin,
  blobKey,
  file,
  fileId,
  part,
  put,
  setUp,
  terms,
  upload,
  uploadId
} from "./FileStoreSamples.ts"
import { at, envId, everything, orgId, runId } from "./Samples.ts"

const everywhere = terms()

const opening: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("finds an upload as it was created, until it expires, in its environment only", function* () {
    const store = yield* setUp
    const begun = upload(1, { expected_size: 50 * 1024 ** 3, path: "ü/🧵", run_id: runId(1), parts_expected: 6400 })
    yield* begin(begun)
    yield* begin(upload(2))
    assert.deepStrictEqual(yield* store.getUpload(envId(1), uploadId(1), at(999)), begun)
    assert.deepStrictEqual(yield* store.getUpload(envId(1), uploadId(2), at(0)), upload(2))
    const missing = yield* Effect.flip(store.getUpload(envId(1), uploadId(1), at(1000)))
    assert.strictEqual(missing.message, "There is no such upload")
    assert.strictEqual((yield* Effect.flip(store.getUpload(envId(2), uploadId(1), at(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.getUpload(envId(1), uploadId(404), at(1))))._tag, "NotFound")
  }),

  check("lists parts by number, each as it was last stored", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    yield* begin(upload(2))
    for (const noted of [part(10, 5), part(2, 6), part(1, 7), part(2, 8, `"again"`)]) {
      assert.isTrue(yield* store.putPart(envId(1), uploadId(1), noted, everywhere))
    }
    yield* store.putPart(envId(1), uploadId(2), part(3, 9), everywhere)
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(1)), [part(1, 7), part(2, 8, `"again"`), part(10, 5)])
    assert.deepStrictEqual(yield* store.parts(envId(2), uploadId(1)), [])
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(404)), [])
  }),

  check("counts parts as storage, and rejects those over the limit", function* () {
    const store = yield* setUp
    const limited = terms({ storage_bytes: 1000 })
    yield* put(file(1, { size: 500, env_id: envId(2) }))
    yield* begin(upload(2))
    assert.isTrue(yield* store.putPart(envId(1), uploadId(2), part(1, 300), limited))
    assert.isFalse(yield* store.putPart(envId(1), uploadId(2), part(2, 201), limited))
    assert.isTrue(yield* store.putPart(envId(1), uploadId(2), part(1, 500), limited))
    assert.isFalse(yield* store.putPart(envId(1), uploadId(2), part(1, 501), limited))
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(2)), [part(1, 500)])
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 1000)
    assert.isTrue(yield* store.putPart(envId(1), uploadId(2), part(1, 10), limited))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 510)
    assert.strictEqual((yield* put(file(3, { size: 491 }), limited))._tag, "OverStorage")
  }),

  check("fails with NotFound for a part of a closed upload or of another environment", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    const put = (env: number, id: number) => store.putPart(envId(env), uploadId(id), part(1, 5), everywhere)
    assert.strictEqual((yield* Effect.flip(put(1, 404)))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(put(2, 1)))._tag, "NotFound")
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 0)
  })
]

const ending: ReadonlyArray<Check<FileStore | TenantStore>> = [
  check("turns a completed upload into a file", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    for (const n of [1, 2]) yield* store.putPart(envId(1), uploadId(1), part(n, 300), everywhere)
    // The file is counted instead of its parts.
    const limited = terms({ storage_bytes: 600 })
    const stored = assembled(1, 600)
    assert.deepStrictEqual(yield* store.completeUpload(uploadId(1), stored, limited), { _tag: "Stored", file: stored })
    assert.deepStrictEqual(yield* store.find(envId(1), "upload/1"), stored)
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 600)
    assert.strictEqual((yield* Effect.flip(store.getUpload(envId(1), uploadId(1), at(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(1)), [])
    const late = store.putPart(envId(1), uploadId(1), part(3, 5), everywhere)
    assert.strictEqual((yield* Effect.flip(late))._tag, "NotFound")
    const again = store.completeUpload(uploadId(1), stored, everywhere)
    assert.strictEqual((yield* Effect.flip(again))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.claimExpired(at(9000), at(9999), 10), [])
  }),

  check("replaces the file at the path of a completed upload", function* () {
    const store = yield* setUp
    yield* put(file(5, { path: "upload/1", size: 50 }))
    yield* begin(upload(1))
    yield* store.putPart(envId(1), uploadId(1), part(1, 70), everywhere)
    const stored = yield* store.completeUpload(uploadId(1), assembled(1, 70), terms({ storage_bytes: 70 }))
    assert.deepStrictEqual(stored, {
      _tag: "Stored",
      file: assembled(1, 70, { file_id: fileId(5), created_at: at(5) })
    })
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 70)
    assert.deepStrictEqual(yield* store.claimExpired(at(500), at(999), 10), [blobKey(5)])
  }),

  check("keeps an upload open with its parts when its file is refused", function* () {
    const store = yield* setUp
    yield* put(file(5, { size: 50 }))
    yield* begin(upload(1))
    yield* store.putPart(envId(1), uploadId(1), part(1, 70), everywhere)
    const complete = (on: Parameters<typeof terms>[0]) =>
      Effect.map(store.completeUpload(uploadId(1), assembled(1, 70), terms(on)), (stored) => stored._tag)
    assert.strictEqual(yield* complete({ storage_bytes: 119 }), "OverStorage")
    assert.strictEqual(yield* complete({ mayCreate: false }), "MayNotCreate")
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(1)), [part(1, 70)])
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 120)
    assert.strictEqual((yield* store.list(envId(1), everything, {})).total, 1)
    const elsewhere = store.completeUpload(uploadId(1), assembled(1, 70, { env_id: envId(2) }), everywhere)
    assert.strictEqual((yield* Effect.flip(elsewhere))._tag, "NotFound")
    assert.strictEqual(yield* complete({ storage_bytes: 120 }), "Stored")
  }),

  check("rejects the completion of an upload whose bytes were garbage-collected", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    yield* store.putPart(envId(1), uploadId(1), part(1, 70), everywhere)
    yield* store.claimExpired(at(1060), at(9999), 10)
    const stored = yield* store.completeUpload(uploadId(1), assembled(1, 70), everywhere)
    assert.deepStrictEqual(stored, { _tag: "BytesGone" })
  }),

  check("stores one file for many concurrent completions of an upload", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    yield* store.putPart(envId(1), uploadId(1), part(1, 70), everywhere)
    const complete = Effect.result(store.completeUpload(uploadId(1), assembled(1, 70), everywhere))
    const results = yield* Effect.replicateEffect(complete, 20, { concurrency: "unbounded" })
    assert.strictEqual(results.filter((result) => result._tag === "Success").length, 1)
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 70)
  }),

  check("frees the storage of a removed upload, and keeps the reservation of its key", function* () {
    const store = yield* setUp
    yield* begin(upload(1))
    yield* begin(upload(2))
    for (const n of [1, 2]) yield* store.putPart(envId(1), uploadId(1), part(n, 300), everywhere)
    yield* store.putPart(envId(1), uploadId(2), part(1, 5), everywhere)
    assert.strictEqual((yield* Effect.flip(store.removeUpload(envId(2), uploadId(1))))._tag, "NotFound")
    yield* store.removeUpload(envId(1), uploadId(1))
    assert.strictEqual(yield* store.storageBytes(orgId(1)), 5)
    assert.strictEqual((yield* Effect.flip(store.removeUpload(envId(1), uploadId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.getUpload(envId(1), uploadId(1), at(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.parts(envId(1), uploadId(2)), [part(1, 5)])
    assert.isTrue(yield* store.extend(blobKey(1), at(5)))
  }),

  check("expiredUploads returns those of all environments, the oldest first, from any position", function* () {
    const store = yield* setUp
    const expiries = [30, 10, 20, 10, 40]
    for (const [n, expiry] of expiries.entries()) {
      yield* begin(upload(n, { env_id: envId((n % 3) + 1), expires_at: at(expiry) }))
    }
    const listExpired = (millis: number, limit: number, after: number | null = null) =>
      Effect.map(
        store.expiredUploads(
          at(millis),
          limit,
          after === null ? null : upload(after, { expires_at: at(expiries[after] ?? 0) })
        ),
        (found) => found.map((expired) => expired.upload_id)
      )
    assert.deepStrictEqual(yield* listExpired(9, 10), [])
    assert.deepStrictEqual(yield* listExpired(10, 10), [uploadId(1), uploadId(3)])
    assert.deepStrictEqual(yield* listExpired(30, 3), [uploadId(1), uploadId(3), uploadId(2)])
    assert.deepStrictEqual(yield* listExpired(30, 3, 3), [uploadId(2), uploadId(0)])
    assert.deepStrictEqual(yield* listExpired(30, 3, 0), [])
    const [first] = yield* store.expiredUploads(at(10), 1, null)
    assert.deepStrictEqual(first, upload(1, { env_id: envId(2), expires_at: at(10) }))
  })
]

export const uploadChecks: ReadonlyArray<Check<FileStore | TenantStore>> = [...opening, ...ending]
