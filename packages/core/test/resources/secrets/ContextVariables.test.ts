import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { type Caller, ContextVariables, firstPage, Projects } from "@weft/core"
import { ContextVariable, ContextVariableStore, Sealed } from "@weft/core/adapter"
import { contextValueBytesMax, contextVariablesMax } from "@weft/core/internal"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { as, failure } from "../../Services.ts"
import { asHost, deployed, world } from "../../world.ts"

const modules = { shop: { main: { f: () => null } }, other: { main: { f: () => null } } }

const reason = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

const inShop = <A, E>(
  body: (
    variables: ContextVariables["Service"],
    host: <B, F, R>(effect: Effect.Effect<B, F, R>) => Effect.Effect<B, F, Exclude<R, Caller>>,
    env: Env
  ) => Effect.Effect<A, E, Layer.Success<ReturnType<typeof world>>>
) =>
  Effect.gen(function* () {
    const env = yield* deployed("shop")
    return yield* body(yield* ContextVariables, (effect) => asHost(env, effect), env)
  }).pipe(Effect.provide(world(modules)))

describe("ContextVariables", () => {
  it.effect("creates, lists, changes and removes, and never returns a value", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        const made = yield* host(
          variables.create("shop", { key: "TOKEN", value: "t0p s3cret", description: "of the shop" })
        )
        assert.deepInclude(made, { key: "TOKEN", description: "of the shop", updated_at: made.created_at })
        assert.notProperty(made, "value")
        yield* host(variables.create("shop", { key: "Another.key-1", value: "" }))

        yield* TestClock.adjust(7)
        const revalued = yield* host(variables.update("shop", "TOKEN", { value: "new" }))
        assert.deepEqual(revalued, { ...made, updated_at: revalued.updated_at })
        assert.strictEqual(revalued.updated_at - made.updated_at, 7)
        const renamed = yield* host(variables.update("shop", "TOKEN", { description: "" }))
        assert.strictEqual(renamed.description, "")

        const page = yield* host(variables.list("shop", firstPage))
        assert.deepStrictEqual(
          page.items.map(({ key, description }) => [key, description]),
          [
            ["Another.key-1", ""],
            ["TOKEN", ""]
          ]
        )
        for (const item of page.items) assert.notProperty(item, "value")
        assert.deepStrictEqual((yield* host(variables.list("shop", { limit: 1, offset: 1 }))).items, [renamed])

        yield* host(variables.remove("shop", "TOKEN"))
        assert.strictEqual(yield* host(failure(variables.remove("shop", "TOKEN"))), "NotFound")
        assert.strictEqual((yield* host(variables.list("shop", firstPage))).total, 1)
      })
    )
  )

  it.effect("stores encrypted values, with a new nonce each time", () =>
    inShop((variables, host, env) =>
      Effect.gen(function* () {
        const store = yield* ContextVariableStore
        yield* host(variables.create("shop", { key: "A", value: "t0p s3cret" }))
        const { project_id } = yield* host(Projects.use((projects) => projects.get("shop")))
        const first = yield* store.get(env.env_id, project_id, "A")
        yield* host(variables.update("shop", "A", { value: "t0p s3cret" }))
        const second = yield* store.get(env.env_id, project_id, "A")
        assert.match(first.value, /^[0-9a-f]{16}\.[\w-]+\.[\w-]+$/)
        assert.notStrictEqual(first.value, second.value)
        yield* host(variables.update("shop", "A", { description: "same value" }))
        assert.strictEqual((yield* store.get(env.env_id, project_id, "A")).value, second.value)
      })
    )
  )

  it.effect("accepts only keys of the pattern", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        for (const key of ["A", "_", "a.b-c_9", "x".repeat(128), "__proto__"]) {
          assert.strictEqual((yield* host(variables.create("shop", { key, value: "" }))).key, key)
        }
        for (const key of ["", "9a", "-a", "a b", "a/b", "å", "x".repeat(129), "a\n", "\u0000"]) {
          assert.match(yield* host(reason(variables.create("shop", { key, value: "" }))), /^key must begin with/)
          // An invalid key never matches a variable.
          assert.strictEqual(yield* host(failure(variables.update("shop", key, { value: "" }))), "NotFound")
          assert.strictEqual(yield* host(failure(variables.remove("shop", key))), "NotFound")
        }
        assert.strictEqual(
          yield* host(reason(variables.create("shop", { key: "A", value: "" }))),
          "key is already in use in this project"
        )
      })
    )
  )

  it.effect("accepts values and descriptions within their limits, and never quotes them", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        yield* host(variables.create("shop", { key: "A", value: "x".repeat(65_536), description: "d".repeat(1024) }))
        yield* host(variables.update("shop", "A", { value: "æ".repeat(32_768) }))
        for (const value of ["x".repeat(65_537), "æ".repeat(32_769), "\ud800"]) {
          assert.strictEqual(
            yield* host(reason(variables.create("shop", { key: "B", value }))),
            "value must be valid Unicode of at most 65536 bytes"
          )
          assert.match(yield* host(reason(variables.update("shop", "A", { value }))), /^value must/)
        }
        for (const description of ["d".repeat(1025), "\u0000", "\udfff"]) {
          assert.match(
            yield* host(reason(variables.create("shop", { key: "B", value: "", description }))),
            /^description must/
          )
          assert.match(yield* host(reason(variables.update("shop", "A", { description }))), /^description must/)
        }
        assert.match(yield* host(reason(variables.update("shop", "A", {}))), /^value or description is required/)
        assert.strictEqual((yield* host(variables.list("shop", firstPage))).total, 1)
      })
    )
  )

  it.effect("limits the number of variables per project", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        for (let n = 0; n < contextVariablesMax; n++) yield* host(variables.create("shop", { key: `K${n}`, value: "" }))
        assert.match(
          yield* host(reason(variables.create("shop", { key: "ONE_MORE", value: "" }))),
          /1000 context variables/
        )
        yield* host(variables.remove("shop", "K7"))
        yield* host(variables.create("shop", { key: "ONE_MORE", value: "" }))
      })
    )
  )

  it.effect("limits the total length of encrypted values", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        const value = "x".repeat(contextValueBytesMax)
        const tooLarge = /^value: the encrypted values of a project may have at most 2097152 characters together/
        for (let n = 0; n < 23; n++) yield* host(variables.create("shop", { key: `K${n}`, value }))
        yield* host(variables.create("shop", { key: "SMALL", value: "x" }))
        assert.match(yield* host(reason(variables.create("shop", { key: "LARGE", value }))), tooLarge)
        assert.match(yield* host(reason(variables.update("shop", "SMALL", { value }))), tooLarge)
        yield* host(variables.update("shop", "SMALL", { description: "as it was" }))
        yield* host(variables.update("shop", "K0", { value }))
        yield* host(variables.remove("shop", "K0"))
        yield* host(variables.update("shop", "SMALL", { value }))
      })
    )
  )

  it.effect("allows to shorten values that exceed the total", () =>
    inShop((variables, host, env) =>
      Effect.gen(function* () {
        const { project_id } = yield* host(Projects.use((projects) => projects.get("shop")))
        const value = "x".repeat(contextValueBytesMax)
        for (let n = 0; n < 2; n++) yield* host(variables.create("shop", { key: `K${n}`, value }))
        const store = yield* ContextVariableStore
        const [variable = assert.fail("no variable is stored")] = yield* store.all(env.env_id, project_id)
        const large = Sealed.make("x".repeat(3 * 1024 * 1024))
        yield* store.insert(new ContextVariable({ ...variable, key: "OLD", value: large }))
        assert.include(yield* host(reason(variables.create("shop", { key: "NEW", value: "" }))), "together")
        yield* host(variables.update("shop", "K0", { value: value.slice(1) }))
        yield* host(variables.update("shop", "OLD", { value }))
        yield* host(variables.create("shop", { key: "NEW", value: "" }))
      })
    )
  )

  it.effect("removes variables with their project", () =>
    inShop((variables, host, env) =>
      Effect.gen(function* () {
        const { project_id } = yield* host(Projects.use((projects) => projects.get("shop")))
        yield* host(variables.create("shop", { key: "A", value: "x" }))
        yield* host(Projects.use((projects) => projects.remove("shop")))
        assert.strictEqual(yield* host(failure(variables.list("shop", firstPage))), "NotFound")
        const store = yield* ContextVariableStore
        assert.deepStrictEqual(yield* store.all(env.env_id, project_id), [])
        yield* host(Projects.use((projects) => projects.create({ name: "shop" })))
        assert.strictEqual((yield* host(variables.list("shop", firstPage))).total, 0)
      })
    )
  )

  it.effect("requires the permission on the project, and checks it first", () =>
    inShop((variables, host, env) =>
      Effect.gen(function* () {
        yield* host(variables.create("shop", { key: "A", value: "x" }))
        const list = variables.list("shop", firstPage)
        const create = variables.create("shop", { key: "B", value: "x" })
        const update = variables.update("shop", "A", { value: "y" })
        const remove = variables.remove("shop", "A")
        const reader = as(env.env_id, { "ctx:shop": ["read"] })
        assert.strictEqual((yield* reader(list)).total, 1)
        for (const denied of [create, update]) assert.strictEqual(yield* reader(failure(denied)), "Forbidden")
        assert.strictEqual(yield* reader(failure(remove)), "Forbidden")

        const elsewhere = as(env.env_id, { "context:other": ["*"] })
        for (const denied of [variables.create("shop", { key: "", value: "" }), variables.update("shop", "A", {})]) {
          assert.strictEqual(yield* elsewhere(failure(denied)), "Forbidden")
        }
        assert.strictEqual(yield* elsewhere(failure(list)), "Forbidden")
        assert.strictEqual(yield* elsewhere(failure(variables.create("other", { key: "", value: "" }))), "BadRequest")
        assert.strictEqual(yield* elsewhere(failure(variables.create("other", { key: "K", value: "" }))), "NotFound")

        const writer = as(env.env_id, { "context:shop": ["create", "update", "delete"] })
        assert.strictEqual(yield* writer(failure(list)), "Forbidden")
        yield* writer(create)
        yield* writer(update)
        yield* writer(remove)
      })
    )
  )

  it.effect("does not find variables of another environment", () =>
    inShop((variables, host) =>
      Effect.gen(function* () {
        yield* host(variables.create("shop", { key: "A", value: "x" }))
        const { project_id } = yield* host(Projects.use((projects) => projects.get("shop")))
        const other = yield* deployed("other")
        for (const attempt of [
          variables.update(project_id, "A", { value: "mine" }),
          variables.create(project_id, { key: "B", value: "mine" })
        ]) {
          assert.strictEqual(yield* asHost(other, failure(attempt)), "NotFound")
        }
        assert.strictEqual(yield* asHost(other, failure(variables.list(project_id, firstPage))), "NotFound")
        assert.strictEqual(yield* asHost(other, failure(variables.remove(project_id, "A"))), "NotFound")
      })
    )
  )
})
