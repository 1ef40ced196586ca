import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { RunId } from "../../../src/foundation/Ids.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { Files, simpleUploadBytesMax } from "../../../src/resources/files/Files.ts"
import { failure } from "../../Services.ts"
import { bytes, content, envOn, isSame, read, reservedKeys, run, upload } from "./Fixtures.ts"

const runId = (n: number) => RunId.make(`01976a2b-0008-7000-8000-${String(n).padStart(12, "0")}`)

const list = (prefix?: string) =>
  Effect.map(
    Files.use((files) => files.list(firstPage, prefix)),
    ({ items }) => items.map((file) => file.path)
  )

describe("uploading a file", () => {
  it.effect("stores its bytes and returns its record", () =>
    run(
      Effect.gen(function* () {
        const { host, env_id } = yield* envOn("Self-Host")
        yield* TestClock.setTime(5000)
        const file = yield* host(upload("notes/ü.txt", bytes(5000)))
        assert.deepInclude<Record<string, unknown>>(file, {
          env_id,
          path: "notes/ü.txt",
          size: 5000,
          content_type: "text/plain",
          storage_backend: "memory",
          created_by_run_id: null,
          created_at: 5000,
          updated_at: 5000
        })
        assert.match(file.etag, /^"[0-9A-Za-z]+"$/)
        assert.isTrue(isSame(yield* host(read(file.file_id)), bytes(5000)))
        assert.deepStrictEqual(yield* host(Files.use((files) => files.get(file.file_id.toUpperCase()))), file)
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("accepts no bytes, an unknown size, and many pieces", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Free")
        const empty = yield* host(upload("empty", bytes(0)))
        assert.deepStrictEqual([empty.size, (yield* host(read(empty.file_id))).length], [0, 0])
        const unknown = yield* host(upload("unknown", bytes(1000), null))
        assert.isTrue(isSame(yield* host(read(unknown.file_id)), bytes(1000)))
        const crumbs = { path: "crumbs", content_type: "a/b", runId: null, ...content(bytes(900), 900, 900) }
        const file = yield* host(Files.use((files) => files.upload(crumbs)))
        assert.isTrue(isSame(yield* host(read(file.file_id)), bytes(900)))
      })
    )
  )

  it.effect("keeps the id and creation of a replaced file, with the etag of the new bytes", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const by = (n: number, all: Uint8Array) =>
          host(Files.use((files) => files.upload({ path: "a", content_type: "x/y", runId: runId(n), ...content(all) })))
        const first = yield* by(1, bytes(10))
        yield* TestClock.adjust(1000)
        const second = yield* by(2, bytes(10, 2))
        assert.deepInclude<Record<string, unknown>>(second, {
          file_id: first.file_id,
          created_at: first.created_at,
          created_by_run_id: runId(1),
          updated_by_run_id: runId(2),
          updated_at: first.updated_at + 1000
        })
        assert.notStrictEqual(second.etag, first.etag)
        assert.strictEqual((yield* by(3, bytes(10))).etag, first.etag)
        assert.deepStrictEqual(yield* host(list()), ["a"])
      })
    )
  )

  it.effect("needs a valid path and content type", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        for (const path of ["", "/a", "a/../b", "a\\b"]) {
          assert.strictEqual(yield* host(failure(upload(path, bytes(1)))), "BadRequest")
        }
        for (const content_type of ["", "a\nb", "é", "x".repeat(256)]) {
          const input = { path: "a", content_type, runId: null, ...content(bytes(1)) }
          assert.strictEqual(yield* host(failure(Files.use((files) => files.upload(input)))), "BadRequest")
        }
        assert.deepStrictEqual(yield* host(list()), [])
      })
    )
  )

  it.effect("stores nothing if the stream fails or has another size than declared", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Free")
        const torn = Stream.concat(Stream.succeed(bytes(10)), Stream.fail({ _tag: "Torn" } as const))
        const input = { path: "a", content_type: "x/y", runId: null, size: null, bytes: torn }
        assert.strictEqual(yield* host(failure(Files.use((files) => files.upload(input)))), "Torn")
        for (const size of [9, 11]) assert.strictEqual(yield* host(failure(upload("a", bytes(10), size))), "BadRequest")
        assert.deepStrictEqual(yield* host(list()), [])
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )
})

/** A stream of undeclared size, and the number of bytes that were read from it. */
const endless = (piece: number) => {
  const taken = { bytes: 0 }
  const bytes = Stream.forever(Stream.sync(() => new Uint8Array(piece))).pipe(
    Stream.tap(() =>
      Effect.sync(() => {
        taken.bytes += piece
      })
    )
  )
  return { taken, input: { path: "a", content_type: "x/y", runId: null, size: null, bytes } }
}

const untouched = Stream.die(new Error("No byte may be read"))

describe("a file that is too large", () => {
  it.effect("is rejected by its declared size before a byte is read", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Free")
        const attempt = (size: number) =>
          host(
            failure(
              Files.use((files) =>
                files.upload({ path: "a", content_type: "x/y", runId: null, size, bytes: untouched })
              )
            )
          )
        assert.strictEqual(yield* attempt(1001), "PlanRequired")
        assert.strictEqual(yield* attempt(simpleUploadBytesMax), "PlanRequired")
        assert.strictEqual(yield* attempt(simpleUploadBytesMax + 1), "BadRequest")
        yield* host(upload("b", bytes(1000)))
        yield* host(upload("c", bytes(1000)))
        yield* host(upload("d", bytes(500)))
        assert.strictEqual(yield* attempt(501), "PlanRequired")
      })
    )
  )

  it.effect("is rejected as soon as the bytes exceed the plan's limit for a file", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Free")
        const { input, taken } = endless(100)
        assert.strictEqual(yield* host(failure(Files.use((files) => files.upload(input)))), "PlanRequired")
        assert.isAtMost(taken.bytes, 1200)
        assert.deepStrictEqual(yield* host(list()), [])
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("is rejected as soon as the bytes exceed the remaining storage", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Free")
        for (const [path, size] of [
          ["b", 1000],
          ["c", 1000],
          ["d", 900]
        ] as const)
          yield* host(upload(path, bytes(size)))
        const { input, taken } = endless(10)
        assert.strictEqual(yield* host(failure(Files.use((files) => files.upload(input)))), "PlanRequired")
        assert.isAtMost(taken.bytes, 130)
        yield* host(upload("a", bytes(100), null))
        assert.strictEqual(yield* host(failure(upload("e", bytes(1), null))), "PlanRequired")
      })
    )
  )

  it.effect("has more than 300 MB in one request, on any plan", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const { input, taken } = endless(1024 ** 2)
        assert.strictEqual(yield* host(failure(Files.use((files) => files.upload(input)))), "BadRequest")
        assert.isAtMost(taken.bytes, simpleUploadBytesMax + 3 * 1024 ** 2)
      })
    )
  )

  it.effect("does not count the replaced file", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Free")
        for (const path of ["a", "b", "c"]) yield* host(upload(path, bytes(1000)))
        assert.strictEqual(yield* host(failure(upload("d", bytes(1)))), "PlanRequired")
        yield* host(upload("a", bytes(1000, 2)))
        yield* host(upload("a", bytes(400, 2)))
        yield* host(upload("d", bytes(600)))
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), 3000)
      })
    )
  )

  it.effect("counts for all environments of an organization together, also for concurrent uploads", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Free")
        const other = yield* envOn("Free", "other")
        const attempts = Array.from({ length: 30 }, (_, n) => host(Effect.result(upload(`f${n}`, bytes(400)))))
        const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.strictEqual(results.filter((result) => result._tag === "Success").length, 7)
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), 2800)
        assert.deepStrictEqual(yield* reservedKeys, [])
        yield* other.host(upload("a", bytes(1000)))
      })
    )
  )
})

describe("permissions on files", () => {
  it.effect("require create for a new path and update for an existing one", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const mayCreate = env.with({ "file:docs/*": ["create"] })
        const mayUpdate = env.with({ "file:docs/a": ["update"] })
        assert.strictEqual(yield* mayUpdate(failure(upload("docs/a", bytes(1)))), "Forbidden")
        const file = yield* mayCreate(upload("docs/a", bytes(1)))
        assert.strictEqual(yield* mayCreate(failure(upload("docs/a", bytes(2)))), "Forbidden")
        assert.strictEqual((yield* mayUpdate(upload("docs/a", bytes(2)))).file_id, file.file_id)
        assert.strictEqual(yield* mayCreate(failure(upload("docsx", bytes(1)))), "Forbidden")
        assert.strictEqual(yield* mayUpdate(failure(upload("docs/b", bytes(1)))), "Forbidden")
        assert.strictEqual(yield* env.with({ "file:*": ["read"] })(failure(upload("docs/b", bytes(1)))), "Forbidden")
      })
    )
  )

  it.effect("are checked before the path, and before a byte is read", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const other = env.with({ "file:docs/*": ["create"], "run:*": ["read"] })
        assert.strictEqual(yield* other(failure(upload("../x", bytes(1)))), "Forbidden")
        assert.strictEqual(yield* other(failure(upload("docs/../x", bytes(1)))), "BadRequest")
        yield* env.host(upload("docs/a", bytes(1)))
        const input = { path: "docs/a", content_type: "x/y", runId: null, size: null, bytes: untouched }
        assert.strictEqual(yield* other(failure(Files.use((files) => files.upload(input)))), "Forbidden")
      })
    )
  )

  it.effect("hide files that the caller may not read", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const [a, b] = [yield* env.host(upload("docs/a", bytes(1))), yield* env.host(upload("secret/b", bytes(1)))]
        const reader = env.with({ "file:docs/*": ["read"], "file:secret/*": ["delete"] })
        assert.strictEqual((yield* reader(Files.use((files) => files.get(a.file_id)))).path, "docs/a")
        for (const id of [b.file_id, "nothing", "", a.env_id]) {
          assert.strictEqual(yield* reader(failure(Files.use((files) => files.get(id)))), "NotFound")
          assert.strictEqual(yield* reader(failure(Files.use((files) => files.open(id)))), "NotFound")
        }
        assert.strictEqual(yield* reader(failure(Files.use((files) => files.remove(a.file_id)))), "NotFound")
        assert.deepStrictEqual(yield* reader(list()), ["docs/a"])
        assert.deepStrictEqual(yield* reader(list("s")), [])
        assert.deepStrictEqual(yield* env.host(list("s")), ["secret/b"])
        yield* reader(Files.use((files) => files.remove(b.file_id)))
        assert.deepStrictEqual(yield* env.host(list()), ["docs/a"])
      })
    )
  )

  it.effect("reject a caller without the permission on any file", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        const { file_id } = yield* env.host(upload("a", bytes(1)))
        const nobody = env.with({ "file:*": ["create"] })
        assert.strictEqual(yield* nobody(failure(list())), "Forbidden")
        assert.strictEqual(yield* nobody(failure(Files.use((files) => files.get(file_id)))), "Forbidden")
        assert.strictEqual(yield* nobody(failure(Files.use((files) => files.open(file_id)))), "Forbidden")
        assert.strictEqual(yield* nobody(failure(Files.use((files) => files.remove(file_id)))), "Forbidden")
      })
    )
  )

  it.effect("reject reads by path in user code with Forbidden", () =>
    run(
      Effect.gen(function* () {
        const env = yield* envOn("Self-Host")
        yield* env.host(upload("docs/a", bytes(10)))
        const reader = env.with({ "file:docs/*": ["read"] })
        const open = (path: string) => Files.use((files) => files.openPath(path))
        assert.strictEqual((yield* reader(open("docs/a"))).file.size, 10)
        assert.strictEqual(yield* reader(failure(open("docs/b"))), "NotFound")
        assert.strictEqual(yield* reader(failure(open("other"))), "Forbidden")
        assert.strictEqual(yield* env.host(failure(open("a//b"))), "BadRequest")
      })
    )
  )

  it.effect("do not reach files of another environment", () =>
    run(
      Effect.gen(function* () {
        const one = yield* envOn("Self-Host", "one")
        const two = yield* envOn("Self-Host", "two")
        const { file_id } = yield* one.host(upload("a", bytes(1)))
        assert.strictEqual(yield* two.host(failure(Files.use((files) => files.get(file_id)))), "NotFound")
        assert.strictEqual(yield* two.host(failure(Files.use((files) => files.remove(file_id)))), "NotFound")
        assert.deepStrictEqual(yield* two.host(list()), [])
      })
    )
  )
})
