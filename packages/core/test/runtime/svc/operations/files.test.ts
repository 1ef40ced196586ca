/** Host calls of `svc.files`, as a compromised guest would make them. */
import { assert, describe, it } from "@effect/vitest"
import { Caller, EnvId, Files, hostIdentity, Tenants } from "@weft/core"
import { Effect } from "effect"
import { makeOperationCalls } from "../../../../src/runtime/svc/GuestCalls.ts"
import { contentCancel, contentRead } from "../../../../src/runtime/svc/operations/content.ts"
import * as files from "../../../../src/runtime/svc/operations/files.ts"
import { world } from "../../../world.ts"
import { makeId, makeRun } from "../Runs.ts"

const base64 = (text: string) => Buffer.from(text).toString("base64")

const fixture = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "calls", plan: "Free" })
  const { env_id } = yield* tenants.createEnv(org.org_id, { name: "production" })
  const { execute, end } = yield* makeOperationCalls([...Object.values(files), contentRead, contentCancel])
  const run = makeRun(env_id)
  const other = makeRun(env_id, 4)
  const otherEnv = makeRun(EnvId.make(makeId(6)), 5)
  const call = (op: string, payload: unknown, owner = run) => {
    const operation = execute.get(op)
    if (operation === undefined) throw new Error(`There is no ${op}`)
    const text = typeof payload === "string" ? payload : JSON.stringify(payload)
    return Effect.map(operation(owner, text, new Set()), (json): unknown => JSON.parse(json))
  }
  const failure = (op: string, payload: unknown, owner = run) =>
    Effect.map(Effect.flip(call(op, payload, owner)), ({ name, message }) => [name, message] as const)
  const paths = Effect.map(
    Effect.provideService(
      Files.use((files) => files.list({ limit: 100, offset: 0 })),
      Caller,
      hostIdentity(env_id)
    ),
    ({ items }) => items.map(({ path }) => path)
  )
  return { call, failure, paths, end: (owner = run) => end(owner), run, other, otherEnv }
})

const test = (name: string, body: Effect.Effect<void, unknown, Effect.Services<typeof fixture>>) =>
  it.live(name, () => Effect.provide(body, world({}, { publicUrl: "https://weft.example" })))

const text = { content_type: "text/plain" }

describe("the operations of svc.files", () => {
  test(
    "store at most 8 files of an environment at a time",
    Effect.gen(function* () {
      const files = yield* Files
      let active = 0
      let most = 0
      const upload: typeof files.upload = (input) =>
        Effect.suspend(() => {
          most = Math.max(most, ++active)
          return Effect.ensuring(
            Effect.andThen(Effect.yieldNow, files.upload(input)),
            Effect.sync(() => active--)
          )
        })
      const { call, paths } = yield* Effect.provideService(fixture, Files, Files.of({ ...files, upload }))
      const puts = Array.from({ length: 40 }, (_, n) =>
        call("files.put", { path: `${n}`, ...text, bytes: base64("x") })
      )
      yield* Effect.all(puts, { concurrency: "unbounded" })
      assert.strictEqual(most, 8)
      assert.lengthOf(yield* paths, 40)
    })
  )

  test(
    "reject invalid payloads as TypeErrors and store nothing",
    Effect.gen(function* () {
      const { failure, paths } = yield* fixture
      const wrong: ReadonlyArray<readonly [op: string, payload: unknown]> = [
        ["files.put", "not json"],
        ["files.put", null],
        ["files.put", { path: "a", bytes: "" }],
        ["files.put", { path: 7, ...text, bytes: "" }],
        ["files.put", { path: "a", ...text, bytes: "*" }],
        ["files.begin", { id: 0, path: "a", ...text, length: null }],
        ["files.begin", { id: 1, path: "a", ...text, length: -1 }],
        ["files.begin", { id: 1, path: "a", ...text, length: 0.5 }],
        ["files.write", { id: 1, bytes: "", done: true }],
        ["files.write", { id: 1, bytes: "=", done: true }],
        ["files.open", { id: 1, path: "a", max: 10, text: false }],
        ["files.list", { prefix: "", limit: 0, offset: 0 }],
        ["files.list", { prefix: "", limit: 101, offset: 0 }],
        ["files.list", { prefix: "", limit: 1, offset: -1 }],
        ["files.url", { path: "a", expires_in: "1" }],
        ["files.delete", {}],
        ["content.read", { id: 1, max: 10, text: false }],
        ["content.read", { id: 1, max: 0, text: false }]
      ]
      for (const [op, payload] of wrong) {
        assert.strictEqual((yield* failure(op, payload))[0], "TypeError", `${op} ${JSON.stringify(payload)}`)
      }
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "write a file in pieces, which exists after the last one",
    Effect.gen(function* () {
      const { call, failure, paths } = yield* fixture
      yield* call("files.begin", { id: 1, path: "a", ...text, length: null })
      assert.deepStrictEqual(yield* failure("files.begin", { id: 1, path: "b", ...text, length: null }), [
        "TypeError",
        "the file is being written"
      ])
      for (const piece of ["ab", "", "c"]) {
        assert.isNull(yield* call("files.write", { id: 1, bytes: base64(piece), done: false }))
      }
      assert.deepStrictEqual(yield* paths, [])
      const stored = yield* call("files.write", { id: 1, bytes: base64("d"), done: true })
      assert.deepInclude(stored, { path: "a", size: 4, content_type: "text/plain", created_by_run_id: makeId(1) })
      assert.deepStrictEqual(yield* paths, ["a"])
      assert.strictEqual((yield* failure("files.write", { id: 1, bytes: "", done: true }))[0], "TypeError")
    })
  )

  test(
    "store nothing if the upload is cancelled, has another size, or its run ends",
    Effect.gen(function* () {
      const { call, failure, paths, end } = yield* fixture
      yield* call("files.begin", { id: 1, path: "cancelled", ...text, length: null })
      yield* call("files.write", { id: 1, bytes: base64("x"), done: false })
      assert.isNull(yield* call("files.cancel", { id: 1 }))
      assert.isNull(yield* call("files.cancel", { id: 1 }))

      for (const length of [1, 3]) {
        yield* call("files.begin", { id: 2, path: "unlike", ...text, length })
        assert.strictEqual((yield* failure("files.write", { id: 2, bytes: base64("xy"), done: true }))[0], "BadRequest")
      }

      yield* call("files.begin", { id: 3, path: "left", ...text, length: null })
      yield* call("files.write", { id: 3, bytes: base64("x"), done: false })
      yield* end()
      assert.strictEqual((yield* failure("files.write", { id: 3, bytes: "", done: true }))[0], "TypeError")
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "check the storage quota against the declared size",
    Effect.gen(function* () {
      const { call, failure, paths } = yield* fixture
      yield* call("files.begin", { id: 1, path: "large", ...text, length: 101 * 1024 * 1024 })
      // At the latest with the last piece: the first one may be taken before it is judged.
      assert.strictEqual((yield* failure("files.write", { id: 1, bytes: base64("x"), done: true }))[0], "PlanRequired")
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "read pieces up to the requested size, as bytes or as text, and close at the end",
    Effect.gen(function* () {
      const { call, failure } = yield* fixture
      const { etag } = Object(yield* call("files.put", { path: "a", ...text, bytes: base64("aé💡b") }))
      for (const isText of [false, true]) {
        let taken = Object(yield* call("files.open", { id: 1, path: "a", etag, max: 3, text: isText }))
        assert.strictEqual(
          (yield* failure("files.open", { id: 1, path: "a", etag, max: 3, text: isText }))[1],
          "the content is being read"
        )
        const pieces = [taken.bytes]
        while (!taken.done) {
          taken = Object(yield* call("content.read", { id: 1, max: 3, text: isText }))
          if (!isText) assert.isAtMost(Buffer.from(taken.bytes, "base64").length, 3)
          pieces.push(taken.bytes)
        }
        const whole = isText
          ? pieces.join("")
          : Buffer.concat(pieces.map((each) => Buffer.from(each, "base64"))).toString()
        assert.strictEqual(whole, "aé💡b")
        assert.strictEqual(
          (yield* failure("content.read", { id: 1, max: 3, text: isText }))[1],
          "the content has ended"
        )
      }
    })
  )

  test(
    "are isolated from other runs and other environments",
    Effect.gen(function* () {
      const { call, failure, paths, other, otherEnv, end } = yield* fixture
      const { etag } = Object(yield* call("files.put", { path: "a", ...text, bytes: base64("abcdef") }))
      yield* call("files.open", { id: 1, path: "a", etag, max: 1, text: true })
      yield* call("files.begin", { id: 2, path: "b", ...text, length: null })
      assert.strictEqual((yield* failure("content.read", { id: 1, max: 1, text: true }, other))[0], "TypeError")
      assert.strictEqual((yield* failure("files.write", { id: 2, bytes: "", done: true }, other))[0], "TypeError")
      yield* call("files.cancel", { id: 2 }, other)
      yield* end(other)
      assert.deepInclude(yield* call("content.read", { id: 1, max: 9, text: true }), { bytes: "bcdef" })
      yield* call("files.write", { id: 2, bytes: "", done: true })
      assert.deepStrictEqual(yield* paths, ["a", "b"])

      assert.isNull(yield* call("files.get", { path: "a" }, otherEnv))
      assert.isFalse(yield* call("files.delete", { path: "a" }, otherEnv))
      assert.strictEqual((yield* failure("files.url", { path: "a" }, otherEnv))[0], "NotFound")
      assert.deepStrictEqual(yield* call("files.list", { prefix: "", limit: 10, offset: 0 }, otherEnv), {
        items: [],
        total: 0
      })
    })
  )
})
