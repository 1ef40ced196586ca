/** Contract of `BuildStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import {
  BuildId,
  BuildStore,
  type FileStore,
  FunctionEntry,
  ProjectStore,
  type ScheduleStore
} from "@weft/core/adapter"
import { Effect, type Layer, Schema } from "effect"
import { buildBytesChecks } from "./BuildBytesChecks.ts"
import { type Check, check, suite } from "./Check.ts"
import { liveBuildChecks } from "./LiveBuildChecks.ts"
import {
  at,
  build,
  buildId,
  emptyManifest,
  envId,
  everything,
  hostileText,
  manifestServing,
  project,
  projectId
} from "./Samples.ts"

type Stores = BuildStore | ProjectStore | ScheduleStore | FileStore

export const buildStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`BuildStore contract: ${adapter}`, buildStoreChecks, layer)

const ofProject2 = { project_id: projectId(2), project_name: "project 2" }
const ofEnv2 = { project_id: projectId(3), project_name: "project 3", env_id: envId(2) }

const functionEntry = (name: string) => Schema.decodeSync(FunctionEntry)({ ns: "main", var: name })
const short = (retention_ms: number) => ({ ns: "main", var: "short", retention_ms })

/** Projects 1 and 2 in environment 1, project 3 in environment 2. */
const setUp = Effect.gen(function* () {
  const projects = yield* ProjectStore
  yield* projects.insert(project(1))
  yield* projects.insert(project(2))
  yield* projects.insert(project(3, { env_id: envId(2) }))
  return { projects, builds: yield* BuildStore }
})

const storing: ReadonlyArray<Check<BuildStore | ProjectStore>> = [
  check("returns a build as it was stored", function* () {
    const { builds } = yield* setUp
    const stored = build(1, { storage_path: hostileText, active: false, updated_at: at(9) })
    yield* builds.insert(stored)
    yield* builds.insert(build(2))
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(1)), stored)
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(1), projectId(1)), stored)
  }),

  check("returns the current project_name, and deployed according to the deployment", function* () {
    const { builds, projects } = yield* setUp
    yield* builds.insert(build(1, { project_name: "made up", deployed: true }))
    yield* projects.update(project(1, { name: "renamed" }))
    const expected = build(1, { project_name: "renamed" })
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(1)), expected)
    assert.deepStrictEqual((yield* builds.list(envId(1), everything, {})).items, [expected])
  }),

  check("fails with NotFound for a build of another project or environment", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    assert.strictEqual((yield* Effect.flip(builds.get(envId(2), buildId(1)))).message, "There is no such build")
    assert.strictEqual((yield* Effect.flip(builds.get(envId(1), buildId(1), projectId(2))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(builds.get(envId(1), buildId(404))))._tag, "NotFound")
  }),

  check("accepts an id once in all projects and environments", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    for (const again of [build(1), build(1, ofProject2), build(1, ofEnv2)]) {
      const error = yield* Effect.flip(builds.insert(again))
      assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "build_id")
    }
    assert.strictEqual((yield* builds.get(envId(1), buildId(1))).project_id, projectId(1))
  }),

  check("lists builds in pages with the total, newest first", function* () {
    const { builds } = yield* setUp
    for (const n of [2, 4, 1, 3]) yield* builds.insert(build(n))
    yield* builds.insert(build(5, ofEnv2))
    assert.deepStrictEqual(yield* builds.list(envId(1), { limit: 2, offset: 1 }, {}), {
      items: [build(3), build(2)],
      total: 4
    })
  }),

  check("lists a build with a supplied id by its creation time, not by its id", function* () {
    const { builds } = yield* setUp
    const supplied = BuildId.make("ffffffff-ffff-4fff-8fff-ffffffffffff")
    yield* builds.insert(build(1, { build_id: supplied, created_at: at(10) }))
    yield* builds.insert(build(2, { created_at: at(20) }))
    const { items } = yield* builds.list(envId(1), everything, {})
    assert.deepStrictEqual(
      items.map((item) => item.build_id),
      [buildId(2), supplied]
    )
  }),

  check("restricts a list to a project, and to ids and names of projects", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.insert(build(2, ofProject2))
    yield* builds.insert(build(3, ofEnv2))
    const list = (filter: Parameters<typeof builds.list>[2]) =>
      Effect.map(builds.list(envId(1), everything, filter), ({ items, total }) => [total, ...items.map((b) => b.size)])
    assert.deepStrictEqual(yield* list({ projectId: projectId(2) }), [1, 1002])
    assert.deepStrictEqual(yield* list({ projectId: projectId(3) }), [0])
    assert.deepStrictEqual(yield* list({ only: ["project 1", projectId(3)] }), [1, 1001])
    assert.deepStrictEqual(yield* list({ only: [projectId(2), "project 1"] }), [2, 1002, 1001])
    assert.deepStrictEqual(yield* list({ only: [projectId(2)], projectId: projectId(1) }), [0])
    assert.deepStrictEqual(yield* list({ only: [] }), [0])
  })
]

const deploying: ReadonlyArray<Check<BuildStore | ProjectStore>> = [
  check("deploy makes a build the only deployed one of its project, with its manifest", function* () {
    const { builds } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    yield* builds.insert(build(3, ofProject2))
    const first = manifestServing("shop", "/a", '/ünï/"b"')
    yield* builds.deploy(build(1), first, at(100))
    const deployed = build(1, { deployed: true, updated_at: at(100) })
    assert.deepStrictEqual(yield* builds.deployed(envId(1), projectId(1)), { build: deployed, manifest: first })
    assert.isTrue((yield* builds.get(envId(1), buildId(1))).deployed)

    const second = manifestServing("shop", "/a", "/c")
    yield* builds.deploy(build(2), second, at(200))
    assert.deepStrictEqual((yield* builds.deployed(envId(1), projectId(1))).manifest, second)
    const { items } = yield* builds.list(envId(1), everything, {})
    assert.deepStrictEqual(
      items.map((item) => [item.size, item.deployed]),
      [
        [1003, false],
        [1002, true],
        [1001, false]
      ]
    )
  }),

  check("deploys an older build again", function* () {
    const { builds } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    for (const n of [1, 2, 1]) yield* builds.deploy(build(n), manifestServing("shop", "/a"), at(n))
    assert.strictEqual((yield* builds.deployed(envId(1), projectId(1))).build.build_id, buildId(1))
  }),

  check("has no deployed build before a deploy, or in another environment", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    assert.strictEqual((yield* Effect.flip(builds.deployed(envId(1), projectId(1))))._tag, "NotFound")
    yield* builds.deploy(build(1), emptyManifest, at(1))
    assert.strictEqual((yield* Effect.flip(builds.deployed(envId(2), projectId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(builds.deployed(envId(1), projectId(2))))._tag, "NotFound")
    assert.deepStrictEqual(yield* builds.deployments(envId(2)), [])
  }),

  check("deploy fails with NotFound for a build of another project or environment", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    for (const wrong of [build(404), build(1, ofProject2), build(1, ofEnv2)]) {
      assert.strictEqual((yield* Effect.flip(builds.deploy(wrong, emptyManifest, at(1))))._tag, "NotFound")
    }
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
  }),

  check("deployments lists all of the environment, by project id", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.insert(build(2, ofProject2))
    yield* builds.insert(build(3, ofEnv2))
    yield* builds.deploy(build(2, ofProject2), manifestServing("b", "/"), at(1))
    yield* builds.deploy(build(1), manifestServing("a", "/"), at(2))
    yield* builds.deploy(build(3, ofEnv2), manifestServing("a", "/"), at(3))
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [
      { build: build(1, { deployed: true, updated_at: at(2) }), manifest: manifestServing("a", "/") },
      { build: build(2, { ...ofProject2, deployed: true, updated_at: at(1) }), manifest: manifestServing("b", "/") }
    ])
  }),

  check("lists functions with a retention of their own, by project id, of the active builds only", function* () {
    const { builds } = yield* setUp
    const retaining = (ms: number) => ({
      ...emptyManifest,
      functions: [functionEntry("plain"), { ...functionEntry("short"), retention_ms: ms }]
    })
    yield* builds.insert(build(1))
    yield* builds.insert(build(2, ofProject2))
    yield* builds.insert(build(3, ofEnv2))
    yield* builds.deploy(build(1), retaining(3_600_000), at(1))
    yield* builds.deploy(build(2, ofProject2), emptyManifest, at(2))
    yield* builds.deploy(build(3, ofEnv2), retaining(7_200_000), at(3))
    const first = { env_id: envId(1), project_id: projectId(1), functions: [short(3_600_000)] }
    const other = { env_id: envId(2), project_id: ofEnv2.project_id, functions: [short(7_200_000)] }
    assert.deepStrictEqual(yield* builds.retentions(null, 10), [first, other])
    assert.deepStrictEqual(yield* builds.retentions(null, 1), [first])
    assert.deepStrictEqual(yield* builds.retentions(projectId(1), 10), [other])
    yield* builds.goLive(build(4, { build_type: "live" }), retaining(10_800_000))
    assert.deepStrictEqual((yield* builds.retentions(null, 1))[0]?.functions, [short(10_800_000)])
    yield* builds.endLive(envId(1), projectId(1), at(5))
    yield* builds.deploy(build(1), emptyManifest, at(6))
    assert.deepStrictEqual(yield* builds.retentions(null, 10), [other])
  }),

  check("rejects a deploy with an endpoint of another project, and changes nothing", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    for (const n of [2, 3]) yield* builds.insert(build(n, ofProject2))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(1))
    yield* builds.deploy(build(2, ofProject2), manifestServing("shop", "/b"), at(2))
    const clash = builds.deploy(build(3, ofProject2), manifestServing("shop", "/c", "/a"), at(3))
    const error = yield* Effect.flip(clash)
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "GET /shop/a")

    const kept = build(2, { ...ofProject2, deployed: true, updated_at: at(2) })
    assert.deepStrictEqual((yield* builds.deployed(envId(1), projectId(2))).build, kept)
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(3)), build(3, ofProject2))
    // The failed deploy has not claimed "/c" either.
    yield* builds.deploy(build(1), manifestServing("shop", "/a", "/c"), at(4))
  }),

  check("identifies an endpoint by method, service and path together", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.insert(build(2, ofProject2))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(1))
    const [endpoint] = manifestServing("shop", "/a").endpoints
    assert.isDefined(endpoint)
    const endpoints = [
      { ...endpoint, method: "POST" as const },
      { ...endpoint, path: "/A" },
      { ...endpoint, service: "s" }
    ]
    yield* builds.deploy(build(2, ofProject2), { ...emptyManifest, endpoints }, at(2))
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 2)
  }),

  check("frees an endpoint when its project no longer serves it", function* () {
    const { builds } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    yield* builds.insert(build(3, ofProject2))
    yield* builds.insert(build(4, ofEnv2))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(1))
    yield* builds.deploy(build(4, ofEnv2), manifestServing("shop", "/a"), at(1))
    yield* builds.deploy(build(2), manifestServing("shop", "/b"), at(2))
    yield* builds.deploy(build(3, ofProject2), manifestServing("shop", "/a"), at(3))
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 2)
  })
]

export const buildStoreChecks: ReadonlyArray<Check<Stores>> = [
  ...storing,
  ...deploying,
  ...liveBuildChecks,
  ...buildBytesChecks
]
