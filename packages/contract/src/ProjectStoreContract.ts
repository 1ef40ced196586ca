/** Contract of `ProjectStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { BuildStore, ProjectStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, build, buildId, envId, everything, manifestServing, project, projectId } from "./Samples.ts"

export const projectStoreContract = <E>(adapter: string, layer: Layer.Layer<ProjectStore | BuildStore, E>) =>
  suite(`ProjectStore contract: ${adapter}`, projectStoreChecks, layer)

export const projectStoreChecks: ReadonlyArray<Check<ProjectStore | BuildStore>> = [
  check("finds a project by id and by name, as it was stored", function* () {
    const store = yield* ProjectStore
    const stored = project(1, { name: `Åse's "orders" 🧵 %_\\`, active: false, updated_at: at(5) })
    yield* store.insert(stored)
    yield* store.insert(project(2))
    assert.deepStrictEqual(yield* store.get(envId(1), projectId(1)), stored)
    assert.deepStrictEqual(yield* store.get(envId(1), stored.name), stored)
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), "nothing"))).message, "There is no such project")
  }),

  check("fails with NotFound for a project of another environment", function* () {
    const store = yield* ProjectStore
    yield* store.insert(project(1))
    assert.strictEqual((yield* Effect.flip(store.get(envId(2), projectId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.get(envId(2), "project 1")))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.update(project(1, { env_id: envId(2), name: "x" }))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(envId(2), projectId(1), at(1000))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.get(envId(1), projectId(1)), project(1))
    assert.deepStrictEqual(yield* store.list(envId(2), everything), { items: [], total: 0 })
  }),

  check("accepts a name once in each environment", function* () {
    const store = yield* ProjectStore
    yield* store.insert(project(1, { name: "orders" }))
    yield* store.insert(project(2, { name: "orders", env_id: envId(2) }))
    yield* store.insert(project(3, { name: "Orders" }))
    const error = yield* Effect.flip(store.insert(project(4, { name: "orders" })))
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "project name")
    assert.strictEqual((yield* store.list(envId(1), everything)).total, 2)
  }),

  check("lists projects in pages with the total, newest first", function* () {
    const store = yield* ProjectStore
    for (const n of [2, 4, 1, 3]) yield* store.insert(project(n))
    yield* store.insert(project(5, { env_id: envId(2) }))
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 1 }), {
      items: [project(3), project(2)],
      total: 4
    })
  }),

  check("restricts a list to ids and names", function* () {
    const store = yield* ProjectStore
    for (const n of [1, 2, 3]) yield* store.insert(project(n))
    yield* store.insert(project(4, { env_id: envId(2) }))
    const only = [projectId(1), "project 3", projectId(4), "unknown"]
    assert.deepStrictEqual(yield* store.list(envId(1), everything, only), {
      items: [project(3), project(1)],
      total: 2
    })
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 1, offset: 1 }, only), {
      items: [project(1)],
      total: 2
    })
    assert.deepStrictEqual(yield* store.list(envId(1), everything, []), { items: [], total: 0 })
  }),

  check("update replaces only name and updated_at", function* () {
    const store = yield* ProjectStore
    yield* store.insert(project(1))
    yield* store.insert(project(2))
    yield* store.update(project(1, { name: "new", active: false, created_at: at(99), updated_at: at(50) }))
    assert.deepStrictEqual(yield* store.get(envId(1), projectId(1)), project(1, { name: "new", updated_at: at(50) }))
    assert.deepStrictEqual(yield* store.get(envId(1), projectId(2)), project(2))
    assert.strictEqual((yield* Effect.flip(store.update(project(404))))._tag, "NotFound")
  }),

  check("accepts the same name in an update, but not that of another project", function* () {
    const store = yield* ProjectStore
    yield* store.insert(project(1))
    yield* store.insert(project(2))
    yield* store.update(project(1, { updated_at: at(50) }))
    const error = yield* Effect.flip(store.update(project(1, { name: "project 2" })))
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "project name")
    assert.strictEqual((yield* store.get(envId(1), projectId(1))).name, "project 1")
  }),

  check("remove also removes the project's builds and endpoints, and no others", function* () {
    const projects = yield* ProjectStore
    const builds = yield* BuildStore
    const other = build(2, { project_id: projectId(2), project_name: "project 2" })
    yield* projects.insert(project(1))
    yield* projects.insert(project(2))
    yield* builds.insert(build(1))
    yield* builds.insert(other)
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(5))
    yield* projects.remove(envId(1), projectId(1), at(1000))

    assert.strictEqual((yield* Effect.flip(projects.get(envId(1), projectId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(projects.remove(envId(1), projectId(1), at(1000))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(builds.get(envId(1), buildId(1))))._tag, "NotFound")
    assert.strictEqual((yield* builds.get(envId(1), buildId(2))).build_id, buildId(2))
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
    yield* builds.deploy(other, manifestServing("shop", "/a"), at(6))
  }),

  check("frees the name of a removed project", function* () {
    const store = yield* ProjectStore
    yield* store.insert(project(1, { name: "orders" }))
    yield* store.remove(envId(1), projectId(1), at(1000))
    yield* store.insert(project(2, { name: "orders" }))
    assert.strictEqual((yield* store.get(envId(1), "orders")).project_id, projectId(2))
  })
]
