/** Contract of `BuildStore` for live builds. Part of `buildStoreChecks`. */
import { assert } from "@effect/vitest"
import {
  type Build,
  BuildStore,
  type Manifest,
  noRetry,
  ProjectStore,
  ScheduleId,
  ScheduleStore,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { at, build, buildId, emptyManifest, envId, everything, manifestServing, project, projectId } from "./Samples.ts"

const ofProject2 = { project_id: projectId(2), project_name: "project 2" }
const ofEnv2 = { project_id: projectId(3), project_name: "project 3", env_id: envId(2) }

/** Projects 1 and 2 in environment 1, project 3 in environment 2. */
const setUp = Effect.gen(function* () {
  const projects = yield* ProjectStore
  yield* projects.insert(project(1))
  yield* projects.insert(project(2))
  yield* projects.insert(project(3, { env_id: envId(2) }))
  return { projects, builds: yield* BuildStore, schedules: yield* ScheduleStore }
})

const live = (n: number, fields: Partial<Build> = {}): Build => build(n, { build_type: "live", ...fields })

/** A manifest of functions with one schedule each, given by the number of its id and its minute of the hour. */
const scheduled = (...schedules: ReadonlyArray<readonly [id: number, minute: number]>): Manifest => ({
  ...emptyManifest,
  schedules: schedules.map(([id, minute]) => ({
    schedule_id: scheduleId(id),
    ns: "main",
    var: "tick",
    cron: `${minute} * * * *`,
    timezone: "UTC",
    retry: noRetry,
    timeout_ms: 300_000,
    concurrency: null,
    idempotency: null,
    durable: false
  }))
})

const scheduleId = (n: number): ScheduleId => ScheduleId.make(`01976a2b-000b-7000-8000-00000000000${n}`)

const anHour = 3_600_000

/** Returns the cron expression and the id's number of all schedules, sorted by expression. */
const schedulesAt = (store: ScheduleStore["Service"], now: Timestamp) =>
  Effect.map(store.due(now, 100), (due) => due.map((it) => `${it.cron} ${it.schedule_id.slice(-1)}`).sort())

const failureTag = <A, E extends { readonly _tag: string; readonly what?: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => (error._tag === "Taken" ? error.what : error._tag))

type Stores = BuildStore | ProjectStore | ScheduleStore

const serving: ReadonlyArray<Check<Stores>> = [
  check("stores a live build, which replaces the deployed one", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(2))
    const manifest = manifestServing("shop", "/b")
    yield* builds.goLive(live(3), manifest)
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(3)), live(3))
    assert.deepStrictEqual(yield* builds.live(envId(1), projectId(1)), { build: live(3), manifest })
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [{ build: live(3), manifest }])
    const deployed = build(1, { deployed: true, updated_at: at(2) })
    assert.deepStrictEqual((yield* builds.deployed(envId(1), projectId(1))).build, deployed)
    assert.deepStrictEqual((yield* builds.list(envId(1), everything, {})).items, [live(3), deployed])
  }),

  check("replaces a live build by the next one, and keeps it stored", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.goLive(live(2), manifestServing("shop", "/a"))
    assert.deepStrictEqual((yield* builds.live(envId(1), projectId(1))).build, live(2))
    assert.deepStrictEqual((yield* builds.list(envId(1), everything, {})).items, [live(2), live(1)])
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 1)
  }),

  check("serves the currently deployed build after a live build ends", function* () {
    const { builds } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(1))
    yield* builds.goLive(live(3), emptyManifest)
    yield* builds.deploy(build(2), manifestServing("shop", "/b"), at(4))
    assert.deepStrictEqual((yield* builds.deployments(envId(1)))[0]?.build, live(3))
    yield* builds.endLive(envId(1), projectId(1), at(5))
    const deployed = { build: build(2, { deployed: true, updated_at: at(4) }), manifest: manifestServing("shop", "/b") }
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [deployed])
    assert.strictEqual(yield* failureTag(builds.live(envId(1), projectId(1))), "NotFound")
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(3)), live(3))
  }),

  check("serves nothing after a live build ends without a deployed one", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.endLive(envId(1), projectId(1), at(2))
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
  }),

  check("deploys a live build, which is then both", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.deploy(live(1), manifestServing("shop", "/a"), at(2))
    const both = live(1, { deployed: true, updated_at: at(2) })
    assert.deepStrictEqual((yield* builds.live(envId(1), projectId(1))).build, both)
    assert.deepStrictEqual((yield* builds.deployed(envId(1), projectId(1))).build, both)
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 1)
  }),

  check("deployments lists the live and deployed builds of all projects, by project id", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.deploy(build(1), emptyManifest, at(1))
    yield* builds.goLive(live(2, ofProject2), emptyManifest)
    yield* builds.goLive(live(3, ofEnv2), emptyManifest)
    assert.deepStrictEqual(
      (yield* builds.deployments(envId(1))).map((it) => it.build.build_id),
      [buildId(1), buildId(2)]
    )
  }),

  check("removes a live build with its project", function* () {
    const { builds, projects } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* projects.remove(envId(1), projectId(1), at(1000))
    assert.strictEqual(yield* failureTag(builds.live(envId(1), projectId(1))), "NotFound")
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/a"))
  })
]

const refusing: ReadonlyArray<Check<Stores>> = [
  check("restricts a live build to its environment and project", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), emptyManifest)
    for (const [env, of] of [
      [envId(2), projectId(1)],
      [envId(1), projectId(2)],
      [envId(2), projectId(3)]
    ] as const) {
      assert.strictEqual(yield* failureTag(builds.live(env, of)), "NotFound")
      assert.strictEqual(yield* failureTag(builds.endLive(env, of, at(2))), "NotFound")
    }
    assert.strictEqual((yield* builds.live(envId(1), projectId(1))).build.build_id, buildId(1))
    assert.deepStrictEqual(yield* builds.deployments(envId(2)), [])
  }),

  check("rejects a live build of a missing project", function* () {
    const { builds } = yield* setUp
    for (const of of [{ project_id: projectId(404) }, { project_id: projectId(3) }]) {
      assert.strictEqual(yield* failureTag(builds.goLive(live(1, of), emptyManifest)), "NotFound")
    }
    yield* builds.insert(build(1))
  }),

  check("rejects a live build with an existing id", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1, ofProject2))
    assert.strictEqual(yield* failureTag(builds.goLive(live(1), manifestServing("shop", "/a"))), "build_id")
    assert.strictEqual(yield* failureTag(builds.live(envId(1), projectId(1))), "NotFound")
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/a"))
  }),

  check("rejects a live build with an endpoint of another project, and changes nothing", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1, ofProject2))
    yield* builds.deploy(build(1, ofProject2), manifestServing("shop", "/deployed"), at(1))
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/live"))
    yield* builds.goLive(live(3), manifestServing("shop", "/own"))
    yield* builds.insert(build(5))
    for (const path of ["/deployed", "/live"]) {
      const manifest = manifestServing("shop", "/more", path)
      assert.strictEqual(yield* failureTag(builds.goLive(live(4), manifest)), `GET /shop${path}`)
      assert.strictEqual(yield* failureTag(builds.deploy(build(5), manifest, at(6))), `GET /shop${path}`)
    }
    assert.strictEqual((yield* builds.live(envId(1), projectId(1))).build.build_id, buildId(3))
    assert.strictEqual(yield* failureTag(builds.get(envId(1), buildId(4))), "NotFound")
    assert.strictEqual(yield* failureTag(builds.deployed(envId(1), projectId(1))), "NotFound")
    yield* builds.goLive(live(6, ofProject2), manifestServing("shop", "/more"))
  }),

  check("frees the endpoints of an ended live build, but never those of the deployed one", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.deploy(build(1), manifestServing("shop", "/deployed"), at(1))
    yield* builds.goLive(live(2), manifestServing("shop", "/first", "/deployed"))
    yield* builds.goLive(live(3), manifestServing("shop", "/second"))
    yield* builds.goLive(live(4, ofProject2), manifestServing("shop", "/first"))
    yield* builds.endLive(envId(1), projectId(1), at(5))
    yield* builds.goLive(live(6, ofProject2), manifestServing("shop", "/second"))
    const error = yield* failureTag(builds.goLive(live(7, ofProject2), manifestServing("shop", "/deployed")))
    assert.strictEqual(error, "GET /shop/deployed")
  })
]

const scheduling: ReadonlyArray<Check<Stores>> = [
  check("has the static schedules of the serving build", function* () {
    const { builds, schedules } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    const now = at(anHour)
    yield* builds.deploy(build(1), scheduled([1, 10]), at(1))
    yield* builds.goLive(live(3), scheduled([2, 20]))
    assert.deepStrictEqual(yield* schedulesAt(schedules, now), ["20 * * * * 2"])
    yield* builds.deploy(build(2), scheduled([3, 30]), at(4))
    assert.deepStrictEqual(yield* schedulesAt(schedules, now), ["20 * * * * 2"])
    yield* builds.goLive(live(5), emptyManifest)
    assert.deepStrictEqual(yield* schedulesAt(schedules, now), [])
    yield* builds.endLive(envId(1), projectId(1), at(6))
    assert.deepStrictEqual(yield* schedulesAt(schedules, now), ["30 * * * * 3"])
  }),

  check("keeps a schedule that both builds have unchanged", function* () {
    const { builds, schedules } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.deploy(build(1), scheduled([1, 10]), at(1))
    const before = yield* schedules.due(at(anHour), 10)
    yield* builds.goLive(live(2, { created_at: at(anHour - 1) }), scheduled([2, 10]))
    assert.deepStrictEqual(yield* schedules.due(at(anHour), 10), before)
    const { manifest } = yield* builds.live(envId(1), projectId(1))
    assert.deepStrictEqual(
      manifest.schedules.map((it) => it.schedule_id),
      before.map((it) => it.schedule_id)
    )
    yield* builds.endLive(envId(1), projectId(1), at(anHour))
    assert.deepStrictEqual(yield* schedules.due(at(anHour), 10), before)
  })
]

export const liveBuildChecks: ReadonlyArray<Check<Stores>> = [...serving, ...refusing, ...scheduling]
