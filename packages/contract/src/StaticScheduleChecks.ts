/** Contract of deployments for schedules. Part of `scheduleStoreChecks`. */
import { assert } from "@effect/vitest"
import {
  type AdmissionStore,
  BuildStore,
  ProjectStore,
  type Schedule,
  ScheduleStore,
  TickStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import type { JournalStores } from "./Claims.ts"
import { at, build, buildId, envId, everything, manifestServing, project, projectId } from "./Samples.ts"
import { schedule, scheduleId, scheduling, store, tick } from "./ScheduleSamples.ts"

type Stores = ScheduleStore | TickStore | BuildStore | ProjectStore | AdmissionStore | JournalStores

const setUp = Effect.gen(function* () {
  const projects = yield* ProjectStore
  const builds = yield* BuildStore
  for (const n of [1, 2]) {
    yield* projects.insert(project(n))
    yield* builds.insert(build(n))
    yield* builds.insert(build(10 + n, { project_id: projectId(2), project_name: "project 2" }))
  }
  return { projects, builds }
})

const ofProject2 = (n: number) => build(n, { project_id: projectId(2), project_name: "project 2" })

const all = ScheduleStore.use((schedules) => schedules.due(at(100_000_000_000), 1000))

const named = (schedules: ReadonlyArray<Schedule>) =>
  schedules.map((one) => `${one.var} ${one.cron} ${Number.parseInt(one.schedule_id.slice(-12), 16)}`).sort()

export const staticScheduleChecks: ReadonlyArray<Check<Stores>> = [
  check("a deployment creates the schedules of its build, each with its first tick", function* () {
    const { builds } = yield* setUp
    // at(0) is 15:06:40 UTC in June; Oslo is two hours ahead.
    yield* builds.deploy(build(1), scheduling(1, ["a", "30 17 * * *"]), at(0))
    const next_at = at((23 * 60 + 20) * 1000)
    assert.deepStrictEqual(yield* all, [
      schedule(1, {
        ...{ kind: "static", var: "a", args: null, cron: "30 17 * * *", timezone: "Europe/Oslo" },
        ...{ next_at, due_at: next_at, created_at: at(0) }
      })
    ])
  }),

  check(
    "a deployment keeps the id and the next tick of unchanged schedules, and adds and removes the others",
    function* () {
      const { builds } = yield* setUp
      const ticks = yield* TickStore
      const hourly = "0 * * * *"
      yield* builds.deploy(build(1), scheduling(1, ["a", hourly], ["b", hourly], ["c", hourly]), at(0))
      const [first] = (yield* all).filter((one) => one.var === "a")
      assert.isDefined(first)
      yield* ticks.fire([tick(first, 100, 7_777)])
      const next = scheduling(11, ["a", hourly], ["b", "5 * * * *"], ["d", hourly])
      yield* builds.deploy(build(2), next, at(5000))
      assert.deepStrictEqual(named(yield* all), ["a 0 * * * * 1", "b 5 * * * * 12", "d 0 * * * * 13"])
      const kept = { ...first, next_at: at(7_777), due_at: at(7_777) }
      assert.deepStrictEqual(
        (yield* all).find((one) => one.var === "a"),
        kept
      )
      const { manifest } = yield* builds.deployed(envId(1), projectId(1))
      assert.deepStrictEqual(
        manifest.schedules.map((one) => one.schedule_id),
        [1, 12, 13].map(scheduleId)
      )
      // The same build again, as in a rollback.
      yield* builds.deploy(build(1), scheduling(21, ["a", hourly], ["c", hourly]), at(6000))
      assert.deepStrictEqual(named(yield* all), ["a 0 * * * * 1", "c 0 * * * * 22"])
      assert.deepStrictEqual(
        (yield* all).find((one) => one.var === "a"),
        kept
      )
    }
  ),

  check("a deployment does not change dynamic schedules or those of other projects", function* () {
    const { builds } = yield* setUp
    const schedules = yield* ScheduleStore
    yield* builds.deploy(ofProject2(11), scheduling(1, ["a", "0 * * * *"]), at(0))
    yield* store(schedule(50, { var: "a", cron: "0 * * * *", timezone: "Europe/Oslo" }))
    yield* builds.deploy(build(1), scheduling(2, ["a", "0 * * * *"]), at(0))
    yield* builds.deploy(build(2), scheduling(3), at(0))
    assert.deepStrictEqual(named(yield* all), ["a 0 * * * * 1", "a 0 * * * * 50"])
    assert.strictEqual((yield* schedules.list(envId(1), everything)).total, 1)
    assert.strictEqual((yield* Effect.flip(schedules.remove(envId(1), scheduleId(1))))._tag, "NotFound")
  }),

  check("a refused deployment changes no schedule", function* () {
    const { builds } = yield* setUp
    yield* builds.deploy(build(1), scheduling(1, ["a", "0 * * * *"]), at(0))
    yield* builds.deploy(ofProject2(11), manifestServing("shop", "/x"), at(0))
    const clashing = { ...manifestServing("shop", "/x"), schedules: scheduling(2, ["b", "0 * * * *"]).schedules }
    assert.strictEqual((yield* Effect.flip(builds.deploy(build(2), clashing, at(1))))._tag, "Taken")
    const missing = build(404, { build_id: buildId(404) })
    assert.strictEqual((yield* Effect.flip(builds.deploy(missing, scheduling(3), at(1))))._tag, "NotFound")
    assert.deepStrictEqual(named(yield* all), ["a 0 * * * * 1"])
  }),

  check("removes the schedules of a removed project, and no others", function* () {
    const { builds, projects } = yield* setUp
    yield* builds.deploy(build(1), scheduling(1, ["a", "0 * * * *"]), at(0))
    yield* builds.deploy(ofProject2(11), scheduling(2, ["b", "0 * * * *"]), at(0))
    yield* store(schedule(50), schedule(51, { project_id: projectId(2) }))
    yield* projects.remove(envId(1), projectId(1), at(1000))
    assert.deepStrictEqual(named(yield* all), ["b 0 * * * * 2", "tick * * * * * * 51"])
  })
]
