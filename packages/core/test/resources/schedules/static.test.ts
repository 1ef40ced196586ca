/** Schedules that builds declare, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Builds, Projects } from "@weft/core"
import type { TrustedModule } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, world } from "../../world.ts"
import { at, echo, redeploy, scheduled, ticking, ticks, times, withMeta } from "./Fixtures.ts"

const modules: Readonly<Record<string, TrustedModule>> = {
  app: ticking("* * * * *"),
  fast: ticking("*/2 * * * * *"),
  same: { main: { ...ticking("* * * * *").main, other: withMeta({ schedule: "*/5 * * * *" }) } },
  other: ticking("30 * * * * *"),
  none: { main: { echo } },
  oslo: ticking({ cron: "30 2 * * *", timezone: "Europe/Oslo" }),
  lord: ticking({ cron: "15 2 * * *", timezone: "Australia/Lord_Howe" }),
  hourly: ticking({ cron: "30 * * * *", timezone: "Europe/Oslo" })
}

type World = Layer.Success<ReturnType<typeof world>>

/** Runs a test on a world that starts at this instant. */
const check = <E>(claim: string, start: string, body: Effect.Effect<void, E, World>) =>
  it.effect(claim, () => Effect.andThen(at(start), Effect.provide(body, world(modules))))

const listed = (env: Parameters<typeof asHost>[0], project: string) =>
  Effect.map(
    asHost(
      env,
      Builds.use((builds) => builds.schedules(project, { limit: 100, offset: 0 }))
    ),
    ({ items }) => items
  )

describe("a schedule of the deployed build", () => {
  check(
    "fires once at each tick, and passes the tick to its function",
    "2026-03-01T10:00:30Z",
    Effect.gen(function* () {
      const env = yield* deployed("app")
      assert.deepStrictEqual(yield* scheduled(env), [])
      yield* TestClock.adjust("3 minutes")
      const runs = yield* scheduled(env)
      const [schedule] = yield* listed(env, "app")
      const results = ["10:01", "10:02", "10:03"].map((time) => ({
        schedule_id: schedule?.schedule_id,
        scheduled_time: `2026-03-01T${time}:00.000Z`,
        cron: "* * * * *"
      }))
      assert.deepStrictEqual(
        runs.map((run) => JSON.parse(run.result ?? "null")),
        results
      )
      assert.deepStrictEqual(
        yield* ticks(env),
        results.map((tick) => ({ fn: "main/tick", ...tick }))
      )
      const [first] = runs
      assert.deepInclude(first, { status: "succeeded", run_type: "schedule", project_name: "app", origin_run_id: null })
      assert.strictEqual(new Set(runs.map((run) => run.stream_id)).size, 3)
    })
  )

  check(
    "may have seconds",
    "2026-03-01T10:00:00.500Z",
    Effect.gen(function* () {
      const env = yield* deployed("fast")
      yield* TestClock.adjust("9 seconds")
      yield* scheduled(env)
      assert.deepStrictEqual(
        yield* times(env),
        [2, 4, 6, 8].map((second) => `2026-03-01T10:00:0${second}.000Z`)
      )
    })
  )

  check(
    "keeps its id and its next tick across deployments and rollbacks",
    "2026-03-01T10:00:30Z",
    Effect.gen(function* () {
      const env = yield* deployed("app")
      const [before] = yield* listed(env, "app")
      yield* TestClock.adjust("40 seconds")
      const newer = yield* redeploy(env, "app", "same")
      const kept = (yield* listed(env, "app")).find((entry) => entry.var === "tick")
      assert.strictEqual(kept?.schedule_id, before?.schedule_id)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        (yield* scheduled(env)).map((run) => run.build_id === newer.build_id),
        [false, true]
      )
      yield* redeploy(env, "app", "app")
      assert.deepStrictEqual(
        (yield* listed(env, "app")).map((entry) => entry.schedule_id),
        [before?.schedule_id]
      )
      yield* TestClock.adjust("1 minute")
      yield* scheduled(env)
      assert.deepStrictEqual(
        yield* times(env),
        [1, 2, 3].map((minute) => `2026-03-01T10:0${minute}:00.000Z`)
      )
    })
  )

  check(
    "ends with the build that declares it, and with its project",
    "2026-03-01T10:00:00Z",
    Effect.gen(function* () {
      const env = yield* deployed("app")
      yield* TestClock.adjust("1 minute")
      yield* redeploy(env, "app", "other")
      yield* TestClock.adjust("1 minute")
      yield* scheduled(env)
      const so = ["2026-03-01T10:01:00.000Z", "2026-03-01T10:01:30.000Z"]
      assert.deepStrictEqual(yield* times(env), so)
      yield* asHost(
        env,
        Projects.use((projects) => projects.remove("app"))
      )
      yield* TestClock.adjust("5 minutes")
      yield* scheduled(env)
      assert.deepStrictEqual(yield* times(env), so)
    })
  )

  check(
    "starts with a deployment on a node without schedules",
    "2026-03-01T10:00:00Z",
    Effect.gen(function* () {
      const env = yield* deployed("none")
      yield* TestClock.adjust("10 minutes")
      yield* redeploy(env, "none", "app")
      yield* TestClock.adjust("1 minute")
      yield* scheduled(env)
      assert.deepStrictEqual(yield* times(env), ["2026-03-01T10:11:00.000Z"])
    })
  )
})

describe("a change to or from daylight-saving time", () => {
  const daily = (claim: string, key: string, days: string, expected: ReadonlyArray<string>) =>
    check(
      claim,
      days,
      Effect.gen(function* () {
        const env = yield* deployed(key)
        yield* TestClock.adjust("3 days")
        yield* scheduled(env)
        assert.deepStrictEqual(yield* times(env), expected)
      })
    )

  daily("a time that is skipped fires after the gap", "oslo", "2026-03-27T12:00:00Z", [
    "2026-03-28T01:30:00.000Z",
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z"
  ])
  daily("a time that comes twice fires once", "oslo", "2026-10-23T12:00:00Z", [
    "2026-10-24T00:30:00.000Z",
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z"
  ])
  daily("changes of half an hour are no different", "lord", "2026-10-02T00:00:00Z", [
    "2026-10-02T15:45:00.000Z",
    "2026-10-03T15:30:00.000Z",
    "2026-10-04T15:15:00.000Z"
  ])

  check(
    "does not affect hourly schedules",
    "2026-10-24T22:45:00Z",
    Effect.gen(function* () {
      const env = yield* deployed("hourly")
      yield* TestClock.adjust("4 hours")
      yield* scheduled(env)
      assert.deepStrictEqual(
        yield* times(env),
        ["24T23", "25T00", "25T01", "25T02"].map((hour) => `2026-10-${hour}:30:00.000Z`)
      )
    })
  )
})
