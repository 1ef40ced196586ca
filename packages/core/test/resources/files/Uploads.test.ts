import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { Files, graceMs } from "../../../src/resources/files/Files.ts"
import { partBytesMax, partBytesMin } from "../../../src/resources/files/MultipartUpload.ts"
import { type NewUpload, Uploads } from "../../../src/resources/files/Uploads.ts"
import { failure } from "../../Services.ts"
import { bytes, content, envOn, isSame, MiB, putPart, read, reservedKeys, run, upload } from "./Fixtures.ts"

const initiate = (path: string, more: Omit<NewUpload, "path"> = {}) =>
  Uploads.use((uploads) => uploads.initiate({ path, ...more }))
const complete = (id: string) => Uploads.use((uploads) => uploads.complete(id))
const abort = (id: string) => Uploads.use((uploads) => uploads.abort(id))

describe("a multipart upload", () => {
  it.effect("becomes a file of the parts in the order of their numbers", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id, ...begun } = yield* host(initiate("big", { content_type: "video/mp4" }))
        assert.deepInclude<Record<string, unknown>>(begun, {
          path: "big",
          part_size: 8 * MiB,
          parts_expected: 1,
          expires_at: 86_400_000
        })
        yield* host(putPart(upload_id, 2, bytes(100, 2)))
        yield* host(putPart(upload_id, 1, bytes(partBytesMin, 9)))
        const part = yield* host(putPart(upload_id.toUpperCase(), 1, bytes(partBytesMin, 1), null))
        assert.deepInclude<Record<string, unknown>>(part, { part_number: 1, size: partBytesMin })
        assert.match(part.etag, /^"[0-9A-Za-z]+"$/)
        yield* TestClock.adjust(1000)
        const file = yield* host(complete(upload_id))
        assert.deepInclude<Record<string, unknown>>(file, {
          path: "big",
          size: partBytesMin + 100,
          content_type: "video/mp4",
          created_at: 1000,
          updated_at: 1000
        })
        const all = yield* host(read(file.file_id))
        assert.isTrue(isSame(all.subarray(0, partBytesMin), bytes(partBytesMin, 1)))
        assert.isTrue(isSame(all.subarray(partBytesMin), bytes(100, 2)))
        assert.strictEqual(yield* host(failure(complete(upload_id))), "NotFound")
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("keeps the id of a replaced file, and the previous bytes for their readers", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const old = yield* host(upload("a", bytes(10)))
        const { upload_id } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(20)))
        const file = yield* host(complete(upload_id))
        assert.strictEqual(file.file_id, old.file_id)
        assert.strictEqual((yield* BlobStore.use((blobs) => blobs.get(old.storage_path))).length, 10)
        assert.deepStrictEqual(yield* reservedKeys, [old.storage_path])
      })
    )
  )

  it.effect("is planned by the declared size", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const plan = (expected_size: number) =>
          Effect.map(host(initiate("a", { expected_size })), (begun) => [begun.part_size, begun.parts_expected])
        assert.deepStrictEqual(yield* plan(0), [8 * MiB, 1])
        assert.deepStrictEqual(yield* plan(20 * MiB), [8 * MiB, 3])
        assert.deepStrictEqual(yield* plan(50 * 1024 * MiB), [8 * MiB, 6400])
      })
    )
  )

  it.effect("cannot be completed with a gap, a short part, another size or no parts, and stays open", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a", { expected_size: partBytesMin + 5 }))
        const refused = Effect.gen(function* () {
          assert.strictEqual(yield* host(failure(complete(upload_id))), "BadRequest")
        })
        yield* refused
        yield* host(putPart(upload_id, 2, bytes(5)))
        yield* refused
        yield* host(putPart(upload_id, 1, bytes(partBytesMin - 1)))
        yield* refused
        yield* host(putPart(upload_id, 1, bytes(partBytesMin + 1)))
        yield* refused
        yield* host(putPart(upload_id, 1, bytes(partBytesMin)))
        assert.strictEqual((yield* host(complete(upload_id))).size, partBytesMin + 5)
      })
    )
  )

  it.effect("rejects parts of invalid numbers and sizes before it is looked up", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        const untouched = Stream.die(new Error("No byte may be read"))
        const attempt = (id: string, number: string, size: number | null) =>
          host(failure(Uploads.use((uploads) => uploads.putPart(id, number, { size, bytes: untouched }))))
        for (const number of ["0", "10001", "x", "-1", "1.5", ""]) {
          assert.strictEqual(yield* attempt(upload_id, number, 1), "BadRequest")
          assert.strictEqual(yield* attempt("nothing", number, 1), "BadRequest")
        }
        assert.strictEqual(yield* attempt(upload_id, "1", partBytesMax + 1), "BadRequest")
        assert.strictEqual(yield* attempt("nothing", "1", 1), "NotFound")
        assert.strictEqual(yield* attempt("01976a2b-0008-7000-8000-000000000001", "1", 1), "NotFound")
        const endless = Stream.forever(Stream.succeed(new Uint8Array(8 * MiB)))
        const cut = Uploads.use((uploads) => uploads.putPart(upload_id, "1", { size: null, bytes: endless }))
        assert.strictEqual(yield* host(failure(cut)), "BadRequest")
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), 0)
      })
    )
  )

  it.effect("does not include a part that was written but not acknowledged, until that is sent again", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id, storage_path, storage_parts } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(10)))
        // The state after a process crashed before it stored the record of the part.
        yield* BlobStore.use((blobs) => blobs.writePart(storage_path, storage_parts, 1, content(bytes(10, 2)).bytes))
        assert.strictEqual(yield* host(failure(complete(upload_id))), "BadRequest")
        yield* host(putPart(upload_id, 1, bytes(10, 2)))
        const { file_id } = yield* host(complete(upload_id))
        assert.isTrue(isSame(yield* host(read(file_id)), bytes(10, 2)))
      })
    )
  )

  it.effect("is removed with its bytes and their counts if it is aborted", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Starter")
        const { upload_id, storage_path, storage_parts } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(MiB)))
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), MiB)
        yield* host(abort(upload_id))
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), 0)
        assert.strictEqual(yield* host(failure(putPart(upload_id, 2, bytes(1)))), "NotFound")
        assert.strictEqual(yield* host(failure(complete(upload_id))), "NotFound")
        assert.strictEqual(yield* host(failure(abort(upload_id))), "NotFound")
        const again = BlobStore.use((blobs) => blobs.writePart(storage_path, storage_parts, 1, content(bytes(1)).bytes))
        assert.strictEqual(yield* failure(again), "NotFound")
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("is not found after its expiry", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(1)))
        yield* TestClock.adjust(86_399_999)
        yield* host(putPart(upload_id, 1, bytes(2)))
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* host(failure(putPart(upload_id, 1, bytes(1)))), "NotFound")
        assert.strictEqual(yield* host(failure(complete(upload_id))), "NotFound")
        assert.strictEqual(yield* host(failure(abort(upload_id))), "NotFound")
      })
    )
  )
})

describe("quotas of multipart uploads", () => {
  it.effect("reject a declared size at once that the plan does not allow", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Starter")
        const begin = (expected_size: number) => host(failure(initiate("a", { expected_size })))
        assert.strictEqual(yield* begin(16 * MiB + 1), "PlanRequired")
        for (const size of [-1, 1.5, Number.NaN, 2 ** 53]) assert.strictEqual(yield* begin(size), "BadRequest")
        yield* host(initiate("a", { expected_size: 16 * MiB }))
        const { upload_id } = yield* host(initiate("b"))
        yield* host(putPart(upload_id, 1, bytes(16 * MiB)))
        assert.strictEqual(yield* begin(14 * MiB + 1), "PlanRequired")
        yield* host(initiate("c", { expected_size: 14 * MiB }))
      })
    )
  )

  it.effect("cut off parts at the remaining storage, without counting a replaced one", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Starter")
        const { upload_id } = yield* host(initiate("a"))
        const stored = FileStore.use((store) => store.storageBytes(org_id))
        yield* host(putPart(upload_id, 1, bytes(16 * MiB)))
        yield* host(putPart(upload_id, 2, bytes(14 * MiB), null))
        for (const size of [1, null]) {
          assert.strictEqual(yield* host(failure(putPart(upload_id, 3, bytes(1), size))), "PlanRequired")
        }
        yield* host(putPart(upload_id, 2, bytes(14 * MiB, 2), null))
        assert.strictEqual(yield* host(failure(putPart(upload_id, 2, bytes(14 * MiB + 1), null))), "PlanRequired")
        assert.strictEqual(yield* stored, 30 * MiB)
        assert.strictEqual(yield* host(failure(complete(upload_id))), "PlanRequired")
        yield* host(abort(upload_id))
        assert.strictEqual(yield* stored, 0)
      })
    )
  )
})

describe("permissions on uploads", () => {
  it.effect("show an upload to callers that may store at its path", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const writer = env.with({ "file:docs/*": ["create"] })
        const other = env.with({ "file:other/*": ["create", "update", "delete"] })
        const reader = env.with({ "file:*": ["read", "delete"] })
        assert.strictEqual(yield* other(failure(initiate("docs/a"))), "Forbidden")
        assert.strictEqual(yield* other(failure(initiate("docs/../a"))), "Forbidden")
        assert.strictEqual(yield* writer(failure(initiate("docs/../a"))), "BadRequest")
        const { upload_id } = yield* writer(initiate("docs/a"))
        yield* writer(putPart(upload_id, 1, bytes(1)))
        for (const [who, tag] of [
          [other, "NotFound"],
          [reader, "Forbidden"]
        ] as const) {
          assert.strictEqual(yield* who(failure(putPart(upload_id, 1, bytes(1)))), tag)
          assert.strictEqual(yield* who(failure(complete(upload_id))), tag)
          assert.strictEqual(yield* who(failure(abort(upload_id))), tag)
        }
        yield* writer(complete(upload_id))
      })
    )
  )

  it.effect("require update, at every step, for a path that got a file after the start", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const creator = env.with({ "file:*": ["create"] })
        const { upload_id } = yield* creator(initiate("a"))
        yield* creator(putPart(upload_id, 1, bytes(2)))
        const { file_id } = yield* env.host(upload("a", bytes(1)))
        assert.strictEqual(yield* creator(failure(initiate("a"))), "Forbidden")
        assert.strictEqual(yield* creator(failure(putPart(upload_id, 1, bytes(1)))), "Forbidden")
        assert.strictEqual(yield* creator(failure(complete(upload_id))), "Forbidden")
        assert.strictEqual((yield* env.with({ "file:a": ["update"] })(complete(upload_id))).file_id, file_id)
      })
    )
  )

  it.effect("do not reach uploads of another environment", () =>
    run(
      Effect.gen(function* () {
        const one = yield* envOn("Self-Host", "one")
        const two = yield* envOn("Self-Host", "two")
        const { upload_id } = yield* one.host(initiate("a"))
        assert.strictEqual(yield* two.host(failure(putPart(upload_id, 1, bytes(1)))), "NotFound")
        assert.strictEqual(yield* two.host(failure(abort(upload_id))), "NotFound")
      })
    )
  )
})

type Host = Effect.Success<ReturnType<typeof envOn>>["host"]

describe("concurrently", () => {
  /** A part that has started and waits for `go`. */
  const slow = (go: Deferred.Deferred<void>, begun: Deferred.Deferred<void>) =>
    Stream.concat(
      Stream.fromEffect(Effect.as(Deferred.succeed(begun, undefined), new Uint8Array(1))),
      Stream.fromEffect(Effect.as(Deferred.await(go), new Uint8Array(1)))
    )

  const sending = Effect.fnUntraced(function* (id: string, number: string, host: Host) {
    const [go, begun] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const put = Uploads.use((uploads) => uploads.putPart(id, number, { size: null, bytes: slow(go, begun) }))
    const fiber = yield* Effect.forkChild(host(Effect.result(put)))
    yield* Deferred.await(begun)
    return { go: Deferred.succeed(go, undefined), result: Fiber.join(fiber) }
  })

  it.effect("a part that is still being sent at the completion fails with NotFound", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(5)))
        const { result } = yield* sending(upload_id, "1", host)
        const file = yield* host(complete(upload_id))
        assert.isTrue(isSame(yield* host(read(file.file_id)), bytes(5)))
        const outcome = yield* result
        assert.strictEqual(outcome._tag === "Failure" ? outcome.failure._tag : outcome._tag, "NotFound")
      })
    )
  )

  it.effect("a completion that fails or is forbidden does not interrupt parts", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        const { result, go } = yield* sending(upload_id, "1", host)
        assert.strictEqual(yield* host(failure(complete(upload_id))), "BadRequest")
        yield* go
        assert.strictEqual((yield* result)._tag, "Success")
        assert.strictEqual((yield* host(complete(upload_id))).size, 2)
      })
    )
  )

  it.effect("an abort interrupts parts that are being sent", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        const both = [yield* sending(upload_id, "1", host), yield* sending(upload_id, "2", host)]
        yield* host(abort(upload_id))
        for (const { result } of both) assert.strictEqual((yield* result)._tag, "Failure")
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("exactly one of several completions creates the file", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { upload_id } = yield* host(initiate("a"))
        yield* host(putPart(upload_id, 1, bytes(5)))
        const attempts = Array.from({ length: 20 }, () => host(Effect.result(complete(upload_id))))
        const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.strictEqual(results.filter((result) => result._tag === "Success").length, 1)
        const { total } = yield* host(Files.use((files) => files.list({ limit: 10, offset: 0 })))
        assert.strictEqual(total, 1)
        yield* TestClock.adjust(graceMs)
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )
})
