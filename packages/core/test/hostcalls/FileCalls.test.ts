/** The host calls of `svc.files` as a broken guest would make them. */
import { assert, describe, it } from "@effect/vitest"
import { Caller, EnvId, Files, hostIdentity, RunId, Tenants } from "@weft/core"
import { Effect } from "effect"
import { Contents } from "../../src/hostcalls/Contents.ts"
import { makeFileCalls } from "../../src/hostcalls/FileCalls.ts"
import { BuildId, ProjectId } from "../../src/ids/Ids.ts"
import { world } from "../world.ts"

const idOf = (number: number) => `01890000-0000-7000-8000-${String(number).padStart(12, "0")}`

const base64 = (text: string) => Buffer.from(text).toString("base64")

const scene = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "calls", plan: "Free" })
  const { env_id } = yield* tenants.createEnv(org.org_id, { name: "production" })
  const contents = new Contents()
  const calls = yield* makeFileCalls(contents)
  const operations = new Map([...contents.operations, ...calls.operations])
  const run = {
    run_id: RunId.make(idOf(1)),
    env_id,
    project_id: ProjectId.make(idOf(2)),
    build_id: BuildId.make(idOf(3))
  }
  const other = { ...run, run_id: RunId.make(idOf(4)) }
  const stranger = { ...run, run_id: RunId.make(idOf(5)), env_id: EnvId.make(idOf(6)) }
  const ask = (op: string, payload: unknown, owner = run) => {
    const operation = operations.get(op)
    if (operation === undefined) throw new Error(`There is no ${op}`)
    const text = typeof payload === "string" ? payload : JSON.stringify(payload)
    return Effect.map(operation(owner, text), (json): unknown => JSON.parse(json))
  }
  const refused = (op: string, payload: unknown, owner = run) =>
    Effect.map(Effect.flip(ask(op, payload, owner)), ({ name, message }) => [name, message] as const)
  const paths = Effect.map(
    Effect.provideService(
      Files.use((files) => files.list({ limit: 100, offset: 0 })),
      Caller,
      hostIdentity(env_id)
    ),
    ({ items }) => items.map(({ path }) => path)
  )
  const end = (owner = run) => Effect.andThen(calls.endAll(owner), contents.endAll(owner.run_id))
  return { ask, refused, paths, end, run, other, stranger }
})

const test = (name: string, body: Effect.Effect<void, unknown, Effect.Services<typeof scene>>) =>
  it.live(name, () => Effect.provide(body, world({}, { publicUrl: "https://weft.example" })))

const text = { content_type: "text/plain" }

describe("the host calls of files", () => {
  test(
    "refuse what they cannot read, as TypeErrors, and store nothing of it",
    Effect.gen(function* () {
      const { refused, paths } = yield* scene
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
        assert.strictEqual((yield* refused(op, payload))[0], "TypeError", `${op} ${JSON.stringify(payload)}`)
      }
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "write a file in pieces, which is there with the last one",
    Effect.gen(function* () {
      const { ask, refused, paths } = yield* scene
      yield* ask("files.begin", { id: 1, path: "a", ...text, length: null })
      assert.deepStrictEqual(yield* refused("files.begin", { id: 1, path: "b", ...text, length: null }), [
        "TypeError",
        "the file is being written"
      ])
      for (const piece of ["ab", "", "c"]) {
        assert.isNull(yield* ask("files.write", { id: 1, bytes: base64(piece), done: false }))
      }
      assert.deepStrictEqual(yield* paths, [])
      const stored = yield* ask("files.write", { id: 1, bytes: base64("d"), done: true })
      assert.deepInclude(stored, { path: "a", size: 4, content_type: "text/plain", created_by_run_id: idOf(1) })
      assert.deepStrictEqual(yield* paths, ["a"])
      assert.strictEqual((yield* refused("files.write", { id: 1, bytes: "", done: true }))[0], "TypeError")
    })
  )

  test(
    "store nothing that is cancelled, that is not what was announced, or whose run ends",
    Effect.gen(function* () {
      const { ask, refused, paths, end } = yield* scene
      yield* ask("files.begin", { id: 1, path: "cancelled", ...text, length: null })
      yield* ask("files.write", { id: 1, bytes: base64("x"), done: false })
      assert.isNull(yield* ask("files.cancel", { id: 1 }))
      assert.isNull(yield* ask("files.cancel", { id: 1 }))

      for (const length of [1, 3]) {
        yield* ask("files.begin", { id: 2, path: "unlike", ...text, length })
        assert.strictEqual((yield* refused("files.write", { id: 2, bytes: base64("xy"), done: true }))[0], "BadRequest")
      }

      yield* ask("files.begin", { id: 3, path: "left", ...text, length: null })
      yield* ask("files.write", { id: 3, bytes: base64("x"), done: false })
      yield* end()
      assert.strictEqual((yield* refused("files.write", { id: 3, bytes: "", done: true }))[0], "TypeError")
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "keep to the plan, from the size that is announced",
    Effect.gen(function* () {
      const { ask, refused, paths } = yield* scene
      yield* ask("files.begin", { id: 1, path: "large", ...text, length: 101 * 1024 * 1024 })
      // At the latest with the last piece: the first one may be taken before it is judged.
      assert.strictEqual((yield* refused("files.write", { id: 1, bytes: base64("x"), done: true }))[0], "PlanRequired")
      assert.deepStrictEqual(yield* paths, [])
    })
  )

  test(
    "read in pieces no larger than asked for, as bytes or as text, and then let go",
    Effect.gen(function* () {
      const { ask, refused } = yield* scene
      const { etag } = Object(yield* ask("files.put", { path: "a", ...text, bytes: base64("aé💡b") }))
      for (const isText of [false, true]) {
        let taken = Object(yield* ask("files.open", { id: 1, path: "a", etag, max: 3, text: isText }))
        assert.strictEqual(
          (yield* refused("files.open", { id: 1, path: "a", etag, max: 3, text: isText }))[1],
          "the content is being read"
        )
        const pieces = [taken.bytes]
        while (!taken.done) {
          taken = Object(yield* ask("content.read", { id: 1, max: 3, text: isText }))
          if (!isText) assert.isAtMost(Buffer.from(taken.bytes, "base64").length, 3)
          pieces.push(taken.bytes)
        }
        const whole = isText
          ? pieces.join("")
          : Buffer.concat(pieces.map((each) => Buffer.from(each, "base64"))).toString()
        assert.strictEqual(whole, "aé💡b")
        assert.strictEqual((yield* refused("content.read", { id: 1, max: 3, text: isText }))[1], "the content is over")
      }
    })
  )

  test(
    "are apart from those of other runs and other environments",
    Effect.gen(function* () {
      const { ask, refused, paths, other, stranger, end } = yield* scene
      const { etag } = Object(yield* ask("files.put", { path: "a", ...text, bytes: base64("abcdef") }))
      yield* ask("files.open", { id: 1, path: "a", etag, max: 1, text: true })
      yield* ask("files.begin", { id: 2, path: "b", ...text, length: null })
      assert.strictEqual((yield* refused("content.read", { id: 1, max: 1, text: true }, other))[0], "TypeError")
      assert.strictEqual((yield* refused("files.write", { id: 2, bytes: "", done: true }, other))[0], "TypeError")
      yield* ask("files.cancel", { id: 2 }, other)
      yield* end(other)
      assert.deepInclude(yield* ask("content.read", { id: 1, max: 9, text: true }), { bytes: "bcdef" })
      yield* ask("files.write", { id: 2, bytes: "", done: true })
      assert.deepStrictEqual(yield* paths, ["a", "b"])

      assert.isNull(yield* ask("files.get", { path: "a" }, stranger))
      assert.isFalse(yield* ask("files.delete", { path: "a" }, stranger))
      assert.strictEqual((yield* refused("files.url", { path: "a" }, stranger))[0], "NotFound")
      assert.deepStrictEqual(yield* ask("files.list", { prefix: "", limit: 10, offset: 0 }, stranger), {
        items: [],
        total: 0
      })
    })
  )
})
