import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { trustedSandbox } from "../../../src/memory/TrustedSandbox.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { Builds } from "../../../src/resources/builds/Builds.ts"
import { Deployments } from "../../../src/resources/builds/Deployments.ts"
import { Project } from "../../../src/resources/projects/Project.ts"
import { ProjectStore } from "../../../src/resources/projects/ProjectStore.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import { as, failure, newEnv, onStores } from "../../Services.ts"
import { type Attempt, deploy, modules, run, setUp, upload } from "../builds/Fixtures.ts"

const names = (page: { readonly items: ReadonlyArray<{ readonly name: string }> }) => page.items.map((it) => it.name)

describe("Projects", () => {
  it.effect("creates, finds by id and by name, renames and removes", () =>
    run(
      Effect.gen(function* () {
        const { env, alpha, host } = yield* setUp
        const projects = yield* Projects
        assert.deepInclude(alpha, { env_id: env.env_id, name: "alpha", active: true })
        for (const named of ["alpha", alpha.project_id, alpha.project_id.toUpperCase()]) {
          assert.deepStrictEqual(yield* host(projects.get(named)), alpha)
        }
        yield* TestClock.adjust(7)
        const renamed = yield* host(projects.update("alpha", { name: "omega" }))
        assert.deepStrictEqual([renamed.name, renamed.updated_at - alpha.updated_at], ["omega", 7])
        assert.strictEqual(yield* host(failure(projects.get("alpha"))), "NotFound")
        assert.deepStrictEqual(names(yield* host(projects.list(firstPage))), ["beta", "omega"])
        yield* host(projects.remove("omega"))
        assert.strictEqual(yield* host(failure(projects.remove("omega"))), "NotFound")
        assert.deepStrictEqual(names(yield* host(projects.list(firstPage))), ["beta"])
      })
    )
  )

  it.effect("rejects names that are invalid or in use", () =>
    run(
      Effect.gen(function* () {
        const { alpha, host } = yield* setUp
        const projects = yield* Projects
        const bad = ["", "a/b", "a\u0000b", "a\nb", "x".repeat(129), alpha.project_id, alpha.project_id.toUpperCase()]
        for (const name of [...bad, "beta"]) {
          assert.strictEqual(yield* host(failure(projects.create({ name }))), "BadRequest")
          assert.strictEqual(yield* host(failure(projects.update("alpha", { name }))), "BadRequest")
        }
        const taken = yield* host(Effect.flip(projects.create({ name: "beta" })))
        assert.strictEqual(taken.message, "The project name is already in use")
        assert.strictEqual((yield* host(projects.update("alpha", { name: "alpha" }))).name, "alpha")
        for (const name of ["x".repeat(128), "æ ø å", "a.b-c_d", "हिन्दी 2", "_"]) yield* host(projects.create({ name }))
        const other = yield* newEnv("other")
        assert.strictEqual((yield* as(other.env_id)(projects.create({ name: "beta" }))).name, "beta")
      })
    )
  )

  it.effect("rejects new names that mean something in a URL, a permission pattern or a shell", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* setUp
        const projects = yield* Projects
        const reserved = [..."*?#%:[]{}$`\"'\\|<>&;!~=+,@()^"].map((character) => `a${character}b`)
        const edges = ["*", ".", "..", " ", " a", "a ", "-rf", ".hidden", "\u00a0", "a\u200bb", "a\ud800"]
        for (const name of [...reserved, ...edges]) {
          const rejected = yield* host(Effect.flip(projects.create({ name })))
          assert.include(rejected.message, "must begin with a letter, a digit or an underscore", name)
          assert.strictEqual(yield* host(failure(projects.update("alpha", { name }))), "BadRequest", name)
        }
      })
    )
  )

  it.effect("keeps names that a former release accepted", () =>
    run(
      Effect.gen(function* () {
        const { alpha, host } = yield* setUp
        const projects = yield* Projects
        const store = yield* ProjectStore
        yield* store.update(new Project({ ...alpha, name: "a.b:c*" }))
        assert.strictEqual((yield* host(projects.get("a.b:c*"))).project_id, alpha.project_id)
        assert.strictEqual((yield* host(projects.update("a.b:c*", { name: "a.b:c*" }))).name, "a.b:c*")
        assert.strictEqual(yield* host(failure(projects.update("a.b:c*", { name: "a.b:c" }))), "BadRequest")
        assert.strictEqual((yield* host(projects.update("a.b:c*", { name: "omega" }))).name, "omega")
      })
    )
  )

  it.effect("checks permission before input, and input before existence", () =>
    run(
      Effect.gen(function* () {
        const { env } = yield* setUp
        const projects = yield* Projects
        const limited = as(env.env_id, { "project:alpha": ["update", "create"], "project:ghost": ["update"] })
        assert.strictEqual(yield* limited(failure(projects.update("beta", { name: "" }))), "Forbidden")
        assert.strictEqual(yield* limited(failure(projects.update("ghost", { name: "" }))), "BadRequest")
        assert.strictEqual(yield* limited(failure(projects.update("ghost", { name: "x" }))), "NotFound")
        assert.strictEqual(yield* limited(failure(projects.create({ name: "" }))), "Forbidden")
        assert.strictEqual(yield* limited(failure(projects.create({ name: "alpha" }))), "BadRequest")
      })
    )
  )

  it.effect("removes the active build and the bytes of a project", () =>
    run(
      Effect.gen(function* () {
        const { env, host } = yield* setUp
        const blobs = yield* BlobStore
        const deployments = yield* Deployments
        const { build } = yield* host(upload("alpha", "two"))
        const deployed = yield* host(deploy("alpha", "one"))
        const other = yield* host(upload("beta", "one"))
        yield* deployments.of(env.env_id)
        yield* host((yield* Projects).remove("alpha"))
        assert.strictEqual((yield* deployments.of(env.env_id)).builds.size, 0)
        assert.strictEqual(yield* failure(blobs.get(build.storage_path)), "NotFound")
        assert.strictEqual(yield* failure(blobs.get(deployed.storage_path)), "NotFound")
        assert.strictEqual((yield* blobs.get(other.build.storage_path)).length, 3)
        assert.strictEqual((yield* host((yield* Builds).list(firstPage))).total, 1)
      })
    )
  )

  it.effect("removes all builds of a project with many builds", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* setUp
        const blobs = yield* BlobStore
        const uploads = yield* host(Effect.replicateEffect(upload("alpha", "one"), 101))
        yield* host((yield* Projects).remove("alpha"))
        for (const { build } of uploads) {
          assert.strictEqual(yield* failure(blobs.get(build.storage_path)), "NotFound")
        }
      })
    )
  )

  it.effect("removes a project even if its bytes cannot be removed", () => {
    const blobs = Layer.effect(
      BlobStore,
      Effect.map(BlobStore, (store) => ({
        ...store,
        remove: (key: string) => Effect.fail(new StoreUnavailable({ operation: `remove ${key}`, cause: "test" }))
      }))
    )
    const layer = onStores.pipe(
      Layer.provideMerge(blobs),
      Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules)))
    )
    return Effect.gen(function* () {
      const { host } = yield* setUp
      yield* host(upload("alpha", "one"))
      yield* host((yield* Projects).remove("alpha"))
      assert.deepStrictEqual(names(yield* host((yield* Projects).list(firstPage))), ["beta"])
    }).pipe(Effect.provide(layer))
  })
})

describe("permissions on projects", () => {
  it.effect("follow the rules of resolveProject", () =>
    run(
      Effect.gen(function* () {
        const { env, alpha, beta } = yield* setUp
        const { get } = yield* Projects
        const cases = [
          [{}, "alpha", "Forbidden"],
          [{}, "ghost", "Forbidden"],
          [{ "project:alpha": ["update"] }, "alpha", "Forbidden"],
          [{ "build:*": ["read"] }, "alpha", "Forbidden"],
          [{ "project:alpha": ["read"] }, "alpha", null],
          [{ "project:alpha": ["read"] }, alpha.project_id, null],
          [{ [`project:${alpha.project_id}`]: ["read"] }, "alpha", null],
          [{ [`project:${alpha.project_id}`]: ["read"] }, alpha.project_id, null],
          [{ "project:alpha": ["read"] }, "beta", "Forbidden"],
          [{ "project:alpha": ["read"] }, beta.project_id, "Forbidden"],
          [{ "project:alpha": ["read"] }, "ghost", "Forbidden"],
          [{ "project:ghost": ["read"] }, "ghost", "NotFound"],
          [{ "project:*": ["read"] }, "alpha", null],
          [{ "project:*": ["read"] }, "ghost", "NotFound"],
          [{ "*:*": ["read"] }, "ghost", "NotFound"]
        ] as const
        for (const [permissions, named, expected] of cases) {
          const result = yield* as(env.env_id, permissions)(Effect.result(get(named)))
          assert.strictEqual(result._tag === "Failure" ? result.failure._tag : null, expected)
        }
      })
    )
  )

  it.effect("filter lists to readable projects", () =>
    run(
      Effect.gen(function* () {
        const { env, alpha } = yield* setUp
        const { list } = yield* Projects
        const only = as(env.env_id, { [`project:${alpha.project_id}`]: ["read"], "project:beta": ["update"] })
        const page = yield* only(list(firstPage))
        assert.deepStrictEqual([names(page), page.total], [["alpha"], 1])
        const none = as(env.env_id, { "project:ghost": ["read"] })
        assert.deepStrictEqual(yield* none(list(firstPage)), { items: [], total: 0 })
      })
    )
  )

  it.effect("need the action of the request", () =>
    run(
      Effect.gen(function* () {
        const { env } = yield* setUp
        const projects = yield* Projects
        const reader = as(env.env_id, { "*:*": ["read"] })
        const writes: ReadonlyArray<Attempt> = [
          projects.create({ name: "gamma" }),
          projects.update("alpha", { name: "gamma" }),
          projects.remove("alpha")
        ]
        for (const attempt of writes) assert.strictEqual(yield* reader(failure(attempt)), "Forbidden")
        const writer = as(env.env_id, { "*:*": ["create", "update", "delete"] })
        assert.strictEqual(yield* writer(failure(projects.list(firstPage))), "Forbidden")
        assert.strictEqual(yield* writer(failure(projects.get("alpha"))), "Forbidden")
        yield* writer(projects.remove("alpha"))
        const named = as(env.env_id, { "project:gamma": ["create"] })
        assert.strictEqual((yield* named(projects.create({ name: "gamma" }))).name, "gamma")
        assert.strictEqual(yield* named(failure(projects.create({ name: "delta" }))), "Forbidden")
      })
    )
  )
})
