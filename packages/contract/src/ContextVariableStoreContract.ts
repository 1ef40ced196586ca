/** Contract of `ContextVariableStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { ContextVariableStore, ProjectStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, envId, everything, hostileText, project, projectId } from "./Samples.ts"
import { sealWith, variable } from "./SecretSamples.ts"

export const contextVariableStoreContract = <E>(
  adapter: string,
  layer: Layer.Layer<ContextVariableStore | ProjectStore, E>
) => suite(`ContextVariableStore contract: ${adapter}`, contextVariableStoreChecks, layer)

const [env, id] = [envId(1), projectId(1)]
const resealed = sealWith("fedcba9876543210", "resealed")

/** Projects 1 and 2 in environment 1, and project 3 in environment 2. */
const scene = Effect.gen(function* () {
  const projects = yield* ProjectStore
  for (const n of [1, 2]) yield* projects.insert(project(n))
  yield* projects.insert(project(3, { env_id: envId(2) }))
  return { projects, store: yield* ContextVariableStore }
})

const failureTag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)

const reading: ReadonlyArray<Check<ContextVariableStore | ProjectStore>> = [
  check("returns a variable as it was stored", function* () {
    const { store } = yield* scene
    const stored = variable("A.b-c_9", { description: hostileText, created_at: at(3), updated_at: at(4) })
    yield* store.insert(stored)
    yield* store.insert(variable("B"))
    assert.deepStrictEqual(yield* store.get(env, id, "A.b-c_9"), stored)
    const missing = yield* Effect.flip(store.get(env, id, "a.b-c_9"))
    assert.strictEqual(missing.message, "There is no such context variable")
  }),

  check("lists variables by key in byte order, in pages and all at once", function* () {
    const { store } = yield* scene
    for (const key of ["b", "A", "_", "B", "a.b", "a", "a-b", "aB", "a_b", "a9"]) yield* store.insert(variable(key))
    yield* store.insert(variable("other", { project_id: projectId(2) }))
    const sorted = ["A", "B", "_", "a", "a-b", "a.b", "a9", "aB", "a_b", "b"].map((key) => variable(key))
    assert.deepStrictEqual(yield* store.all(env, id), sorted)
    assert.deepStrictEqual(yield* store.list(env, id, everything), { items: sorted, total: 10 })
    assert.deepStrictEqual(yield* store.list(env, id, { limit: 2, offset: 3 }), {
      items: sorted.slice(3, 5),
      total: 10
    })
    assert.deepStrictEqual(yield* store.list(env, id, { limit: 2, offset: 10 }), { items: [], total: 10 })
    assert.deepStrictEqual(yield* store.list(env, projectId(404), everything), { items: [], total: 0 })
  }),

  check("hides variables of other environments and projects", function* () {
    const { store } = yield* scene
    yield* store.insert(variable("A"))
    for (const [other, of] of [
      [envId(2), id],
      [env, projectId(2)]
    ] as const) {
      assert.strictEqual(yield* failureTag(store.get(other, of, "A")), "NotFound")
      assert.strictEqual(
        yield* failureTag(store.update(other, of, "A", { value: resealed, updated_at: at(9) })),
        "NotFound"
      )
      assert.strictEqual(yield* failureTag(store.remove(other, of, "A")), "NotFound")
      assert.deepStrictEqual(yield* store.list(other, of, everything), { items: [], total: 0 })
      assert.deepStrictEqual(yield* store.all(other, of), [])
    }
    assert.deepStrictEqual(yield* store.all(env, id), [variable("A")])
  })
]

const writing: ReadonlyArray<Check<ContextVariableStore | ProjectStore>> = [
  check("accepts a key once in each project", function* () {
    const { store } = yield* scene
    yield* store.insert(variable("A"))
    yield* store.insert(variable("A", { project_id: projectId(2) }))
    yield* store.insert(variable("a"))
    const error = yield* Effect.flip(store.insert(variable("A", { value: resealed })))
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "context key")
    assert.deepStrictEqual(yield* store.get(env, id, "A"), variable("A"))
  }),

  check("stores no variable for a missing project", function* () {
    const { store } = yield* scene
    for (const of of [{ project_id: projectId(404) }, { project_id: projectId(3) }, { env_id: envId(2) }]) {
      const error = yield* Effect.flip(store.insert(variable("A", of)))
      assert.strictEqual(error.message, "There is no such project")
    }
    for (const n of [1, 3, 404]) {
      for (const other of [env, envId(2)]) assert.deepStrictEqual(yield* store.all(other, projectId(n)), [])
    }
  }),

  check("update replaces the given fields, and returns the new variable", function* () {
    const { store } = yield* scene
    yield* store.insert(variable("A", { description: "old" }))
    yield* store.insert(variable("B"))
    const revalued = variable("A", { description: "old", value: resealed, updated_at: at(5) })
    assert.deepStrictEqual(yield* store.update(env, id, "A", { value: resealed, updated_at: at(5) }), revalued)
    const renamed = variable("A", { description: hostileText, value: resealed, updated_at: at(6) })
    const change = { description: hostileText, updated_at: at(6) }
    assert.deepStrictEqual(yield* store.update(env, id, "A", change), renamed)
    assert.deepStrictEqual(yield* store.all(env, id), [renamed, variable("B")])
    assert.strictEqual(yield* failureTag(store.update(env, id, "C", change)), "NotFound")
  }),

  check("keeps concurrent changes of value and description", function* () {
    const { store } = yield* scene
    yield* store.insert(variable("A"))
    yield* Effect.all(
      [
        store.update(env, id, "A", { value: resealed, updated_at: at(5) }),
        store.update(env, id, "A", { description: "new", updated_at: at(5) })
      ],
      { concurrency: 2 }
    )
    const both = variable("A", { value: resealed, description: "new", updated_at: at(5) })
    assert.deepStrictEqual(yield* store.get(env, id, "A"), both)
  }),

  check("accepts exactly one of many concurrent inserts of one key", function* () {
    const { store } = yield* scene
    const exits = yield* Effect.replicateEffect(Effect.exit(store.insert(variable("A"))), 10, { concurrency: 10 })
    assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 1)
  }),

  check("removes a variable and frees its key", function* () {
    const { store } = yield* scene
    yield* store.insert(variable("A"))
    yield* store.insert(variable("B"))
    yield* store.remove(env, id, "A")
    assert.strictEqual(yield* failureTag(store.remove(env, id, "A")), "NotFound")
    assert.deepStrictEqual(yield* store.all(env, id), [variable("B")])
    yield* store.insert(variable("A", { value: resealed }))
  }),

  check("removes the variables of a removed project, and no others", function* () {
    const { store, projects } = yield* scene
    yield* store.insert(variable("A"))
    yield* store.insert(variable("A", { project_id: projectId(2) }))
    yield* projects.remove(env, id, at(9))
    assert.deepStrictEqual(yield* store.all(env, id), [])
    yield* projects.insert(project(1))
    assert.deepStrictEqual(yield* store.list(env, id, everything), { items: [], total: 0 })
    assert.strictEqual((yield* store.all(env, projectId(2))).length, 1)
  })
]

export const contextVariableStoreChecks = [...reading, ...writing]
