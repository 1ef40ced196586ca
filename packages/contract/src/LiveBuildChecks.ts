/** What a `BuildStore` must do with live builds. Part of `buildStoreChecks`. */
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
} from "@weft/core"
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

/** Functions with a schedule each, by the number of its id and its minute of the hour. */
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
    idempotency: null
  }))
})

const scheduleId = (n: number): ScheduleId => ScheduleId.make(`01976a2b-000b-7000-8000-00000000000${n}`)

const anHour = 3_600_000

/** Cron expression and number of the id of all schedules, by expression. */
const schedulesAt = (store: ScheduleStore["Service"], now: Timestamp) =>
  Effect.map(store.due(now, 100), (due) => due.map((it) => `${it.cron} ${it.schedule_id.slice(-1)}`).sort())

const tagOf = <A, E extends { readonly _tag: string; readonly what?: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => (error._tag === "Taken" ? error.what : error._tag))

type Stores = BuildStore | ProjectStore | ScheduleStore

const serving: ReadonlyArray<Check<Stores>> = [
  check("a live build is stored, and takes the deployed one's place", function* () {
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

  check("the next one replaces it, which stays stored", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.goLive(live(2), manifestServing("shop", "/a"))
    assert.deepStrictEqual((yield* builds.live(envId(1), projectId(1))).build, live(2))
    assert.deepStrictEqual((yield* builds.list(envId(1), everything, {})).items, [live(2), live(1)])
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 1)
  }),

  check("its end brings the deployed one back, as it is then", function* () {
    const { builds } = yield* setUp
    for (const n of [1, 2]) yield* builds.insert(build(n))
    yield* builds.deploy(build(1), manifestServing("shop", "/a"), at(1))
    yield* builds.goLive(live(3), emptyManifest)
    yield* builds.deploy(build(2), manifestServing("shop", "/b"), at(4))
    assert.deepStrictEqual((yield* builds.deployments(envId(1)))[0]?.build, live(3))
    yield* builds.endLive(envId(1), projectId(1), at(5))
    const deployed = { build: build(2, { deployed: true, updated_at: at(4) }), manifest: manifestServing("shop", "/b") }
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [deployed])
    assert.strictEqual(yield* tagOf(builds.live(envId(1), projectId(1))), "NotFound")
    assert.deepStrictEqual(yield* builds.get(envId(1), buildId(3)), live(3))
  }),

  check("without a deployed one nothing serves after its end", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.endLive(envId(1), projectId(1), at(2))
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
  }),

  check("a live build can be deployed, and is both then", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* builds.deploy(live(1), manifestServing("shop", "/a"), at(2))
    const both = live(1, { deployed: true, updated_at: at(2) })
    assert.deepStrictEqual((yield* builds.live(envId(1), projectId(1))).build, both)
    assert.deepStrictEqual((yield* builds.deployed(envId(1), projectId(1))).build, both)
    assert.strictEqual((yield* builds.deployments(envId(1))).length, 1)
  }),

  check("deployments has the live and the deployed ones of all projects, by project id", function* () {
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

  check("a live build goes with its project", function* () {
    const { builds, projects } = yield* setUp
    yield* builds.goLive(live(1), manifestServing("shop", "/a"))
    yield* projects.remove(envId(1), projectId(1))
    assert.strictEqual(yield* tagOf(builds.live(envId(1), projectId(1))), "NotFound")
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/a"))
  })
]

const refusing: ReadonlyArray<Check<Stores>> = [
  check("a live build is of its environment and project", function* () {
    const { builds } = yield* setUp
    yield* builds.goLive(live(1), emptyManifest)
    for (const [env, of] of [
      [envId(2), projectId(1)],
      [envId(1), projectId(2)],
      [envId(2), projectId(3)]
    ] as const) {
      assert.strictEqual(yield* tagOf(builds.live(env, of)), "NotFound")
      assert.strictEqual(yield* tagOf(builds.endLive(env, of, at(2))), "NotFound")
    }
    assert.strictEqual((yield* builds.live(envId(1), projectId(1))).build.build_id, buildId(1))
    assert.deepStrictEqual(yield* builds.deployments(envId(2)), [])
  }),

  check("nothing goes live in a project that is not there", function* () {
    const { builds } = yield* setUp
    for (const of of [{ project_id: projectId(404) }, { project_id: projectId(3) }]) {
      assert.strictEqual(yield* tagOf(builds.goLive(live(1, of), emptyManifest)), "NotFound")
    }
    yield* builds.insert(build(1))
  }),

  check("an id that is taken does not go live", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1, ofProject2))
    assert.strictEqual(yield* tagOf(builds.goLive(live(1), manifestServing("shop", "/a"))), "build_id")
    assert.strictEqual(yield* tagOf(builds.live(envId(1), projectId(1))), "NotFound")
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/a"))
  }),

  check("endpoints of other projects are taken, and then nothing changes", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1, ofProject2))
    yield* builds.deploy(build(1, ofProject2), manifestServing("shop", "/deployed"), at(1))
    yield* builds.goLive(live(2, ofProject2), manifestServing("shop", "/live"))
    yield* builds.goLive(live(3), manifestServing("shop", "/own"))
    yield* builds.insert(build(5))
    for (const path of ["/deployed", "/live"]) {
      const manifest = manifestServing("shop", "/more", path)
      assert.strictEqual(yield* tagOf(builds.goLive(live(4), manifest)), `GET /shop${path}`)
      assert.strictEqual(yield* tagOf(builds.deploy(build(5), manifest, at(6))), `GET /shop${path}`)
    }
    assert.strictEqual((yield* builds.live(envId(1), projectId(1))).build.build_id, buildId(3))
    assert.strictEqual(yield* tagOf(builds.get(envId(1), buildId(4))), "NotFound")
    assert.strictEqual(yield* tagOf(builds.deployed(envId(1), projectId(1))), "NotFound")
    yield* builds.goLive(live(6, ofProject2), manifestServing("shop", "/more"))
  }),

  check("the endpoints of a live build are free after it, those of the deployed one never were", function* () {
    const { builds } = yield* setUp
    yield* builds.insert(build(1))
    yield* builds.deploy(build(1), manifestServing("shop", "/deployed"), at(1))
    yield* builds.goLive(live(2), manifestServing("shop", "/first", "/deployed"))
    yield* builds.goLive(live(3), manifestServing("shop", "/second"))
    yield* builds.goLive(live(4, ofProject2), manifestServing("shop", "/first"))
    yield* builds.endLive(envId(1), projectId(1), at(5))
    yield* builds.goLive(live(6, ofProject2), manifestServing("shop", "/second"))
    const error = yield* tagOf(builds.goLive(live(7, ofProject2), manifestServing("shop", "/deployed")))
    assert.strictEqual(error, "GET /shop/deployed")
  })
]

const scheduling: ReadonlyArray<Check<Stores>> = [
  check("static schedules are those of the build that serves", function* () {
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

  check("a schedule that both builds have stays the same all along", function* () {
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
