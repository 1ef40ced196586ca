/** Schedules that events create and cancel, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Caller, Events, hostIdentity, Projects } from "@weft/core"
import { parsePermissions } from "@weft/core/internal"
import type { TrustedSvc } from "@weft/core/testing"
import { Effect, type Layer, Result, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, runsOf, settle, world } from "../../world.ts"
import { at, cancel, create, echo, publish, redeploy, refusal, scheduled, ticks, times, withMeta } from "./Fixtures.ts"

const start = "2026-03-01T10:00:30Z"
const nowhere = "01976a2b-0007-7000-8000-000000000001"

/** Creates or cancels schedules with `svc.schedules`, as the event requests. */
const scheduling = withMeta({ event: ["create", "cancel"] }, async (event: Request, svc: TrustedSvc) => {
  try {
    return event.event_type === "create"
      ? await svc.schedules.create(event.event_data)
      : await svc.schedules.cancel(event.event_data)
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : "?"
  }
})

interface Request {
  readonly event_type: string
  readonly event_data: { readonly fn: string; readonly schedule: string; readonly id: string }
}

const modules = { app: { main: { echo, other: () => "other", scheduling } }, bare: { main: { other: () => "other" } } }

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.andThen(at(start), Effect.provide(Effect.flatMap(deployed("app"), body), world(modules)))
  )

const results = (env: Env) =>
  Effect.map(scheduled(env), (runs): ReadonlyArray<string | null> => runs.map((run) => run.result))

describe("svc:schedule:new", () => {
  check("with a cron expression calls the function at each tick, with its arguments", (env) =>
    Effect.gen(function* () {
      const event = yield* create(env, { fn: "main/echo", args: [1, { two: "2" }], schedule: "* * * * *" })
      yield* TestClock.adjust("2 minutes")
      const runs = yield* scheduled(env)
      assert.deepStrictEqual(
        runs.map((run): ReadonlyArray<string | null> => [run.result, run.run_type, run.status]),
        Array.from({ length: 2 }, () => ['[1,{"two":"2"}]', "schedule", "succeeded"])
      )
      assert.deepStrictEqual((yield* ticks(env))[0], {
        fn: "main/echo",
        args: [1, { two: "2" }],
        schedule_id: event.event_id,
        scheduled_time: "2026-03-01T10:01:00.000Z",
        cron: "* * * * *"
      })
    })
  )

  check("reads a cron expression in a time zone", (env) =>
    Effect.gen(function* () {
      yield* create(env, { fn: "main/echo", schedule: "1 16 * * *", timezone: "Asia/Kathmandu" })
      yield* TestClock.adjust("1 hour")
      yield* scheduled(env)
      assert.deepStrictEqual(yield* times(env), ["2026-03-01T10:16:00.000Z"])
    })
  )

  check("with a timestamp or a duration calls it once, without arguments by default", (env) =>
    Effect.gen(function* () {
      yield* create(env, { fn: "main/echo", schedule: "2026-03-01T12:01:00.250+02:00" })
      yield* create(env, { fn: "main/echo", schedule: "PT1M" })
      yield* create(env, { fn: "app:main/echo", args: [], schedule: "PT0S" })
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* results(env), ["[]", "[]", "[]"])
      assert.deepStrictEqual(yield* times(env), [
        "2026-03-01T10:00:30.020Z",
        "2026-03-01T10:01:00.250Z",
        "2026-03-01T10:01:30.020Z"
      ])
      assert.isNull(Object(yield* ticks(env))[0].cron)
    })
  )

  check("survives deployments, and skips ticks while its function does not exist", (env) =>
    Effect.gen(function* () {
      yield* create(env, { fn: "main/echo", schedule: "* * * * *" })
      yield* TestClock.adjust("1 minute")
      yield* redeploy(env, "app", "bare")
      yield* TestClock.adjust("1 minute")
      const back = yield* redeploy(env, "app", "app")
      yield* TestClock.adjust("1 minute")
      const runs = yield* scheduled(env)
      assert.deepStrictEqual(
        runs.map((run) => run.build_id === back.build_id),
        [false, true]
      )
      assert.deepStrictEqual(yield* times(env), ["2026-03-01T10:01:00.000Z", "2026-03-01T10:03:00.000Z"])
    })
  )

  check("ends with its project", (env) =>
    Effect.gen(function* () {
      const event = yield* create(env, { fn: "main/echo", schedule: "* * * * *" })
      yield* asHost(
        env,
        Projects.use((projects) => projects.remove("app"))
      )
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* scheduled(env), [])
      assert.include(yield* refusal(cancel(env, { "schedule-id": event.event_id })), "there is no such schedule")
    })
  )

  check("is rejected if it is invalid, and stores nothing", (env) =>
    Effect.gen(function* () {
      const fn = "main/echo"
      const wrong: ReadonlyArray<readonly [Schema.Json, string]> = [
        [null, "event_data must be an object"],
        [[], "event_data must be an object"],
        [{}, "event_data.fn must be"],
        [{ fn: 1, schedule: "PT1M" }, "event_data.fn must be"],
        [{ fn, args: "x", schedule: "PT1M" }, "event_data.args must be an array"],
        [{ fn, args: ["x".repeat(70_000)], schedule: "PT1M" }, "event_data.args must be at most 65536 bytes"],
        [{ fn }, "event_data.schedule must be a string"],
        [{ fn, schedule: 60 }, "event_data.schedule must be a string"],
        [{ fn, schedule: "" }, "event_data.schedule must be a cron expression"],
        [{ fn, schedule: "soon" }, "event_data.schedule must be a cron expression"],
        [{ fn, schedule: "60 * * * *" }, "event_data.schedule is not a cron expression that can fire"],
        [{ fn, schedule: "0 0 30 2 *" }, "event_data.schedule"],
        [{ fn, schedule: "H * * * *" }, "event_data.schedule must not use H"],
        [{ fn, schedule: "2026-03-01T10:00:00Z" }, "event_data.schedule lies in the past"],
        [{ fn, schedule: "2026-02-30T10:00:00Z" }, "event_data.schedule must be a cron expression"],
        [{ fn, schedule: "2026-04-01T10:00:00" }, "event_data.schedule must be a cron expression"],
        [{ fn, schedule: "P11Y" }, "event_data.schedule lies more than ten years ahead"],
        [{ fn, schedule: "* * * * *", timezone: "Mars/Olympus" }, "event_data.schedule has a timezone"],
        [{ fn, schedule: "* * * * *", timezone: 1 }, "event_data.timezone must be"],
        [{ fn: "main/nothing", schedule: "PT1M" }, "event_data.fn: there is no function of this name"],
        [{ fn: "other:main/echo", schedule: "PT1M" }, "event_data.fn: there is no function"]
      ]
      for (const [data, reason] of wrong) assert.include(yield* refusal(create(env, data)), reason)
      const later = { type: "svc:schedule:new", data: { fn, schedule: "PT1M" }, delay: "1h" }
      assert.include(
        yield* refusal(
          asHost(
            env,
            Events.use((events) => events.publish(later))
          )
        ),
        "events that create or cancel schedules cannot be delayed"
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* scheduled(env), [])
      const all = asHost(
        env,
        Events.use((events) => events.list({ limit: 100, offset: 0 }))
      )
      assert.strictEqual((yield* all).total, 0)
    })
  )

  check("needs the permission to call the function", (env) =>
    Effect.gen(function* () {
      const as = (permissions: unknown) =>
        Effect.provideService(
          Events.use((events) =>
            events.publish({ type: "svc:schedule:new", data: { fn: "main/echo", schedule: "PT1M" } })
          ),
          Caller,
          { ...hostIdentity(env.env_id), permissions: Result.getOrThrow(parsePermissions(permissions)) }
        )
      const event = { "event:svc:schedule:new": ["create"] }
      for (const permissions of [event, { ...event, "call:main/other": ["create"] }, { "call:*": ["create"] }]) {
        assert.strictEqual((yield* Effect.flip(as(permissions)))._tag, "Forbidden")
      }
      yield* as({ ...event, "call:main/echo": ["create"] })
      yield* as({ ...event, "call:app:main/echo": ["create"] })
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* scheduled(env)).length, 2)
    })
  )
})

describe("svc:schedule:cancel", () => {
  check("cancels one schedule by its id, and all of a function by its name", (env) =>
    Effect.gen(function* () {
      const one = yield* create(env, { fn: "main/echo", args: ["one"], schedule: "* * * * *" })
      yield* create(env, { fn: "main/echo", args: ["two"], schedule: "* * * * *" })
      yield* create(env, { fn: "main/echo", args: ["three"], schedule: "PT90S" })
      yield* create(env, { fn: "main/other", schedule: "PT150S" })
      yield* cancel(env, { "schedule-id": one.event_id })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* results(env), ['["two"]'])
      yield* cancel(env, { fn: "app:main/echo" })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* results(env), ['["two"]', '"other"'])
    })
  )

  check("is rejected if no schedule matches", (env) =>
    Effect.gen(function* () {
      const once = yield* create(env, { fn: "main/echo", schedule: "PT1M" })
      yield* TestClock.adjust("2 minutes")
      const wrong: ReadonlyArray<readonly [Schema.Json, string]> = [
        [null, "event_data must be an object with either"],
        [{}, "event_data must be an object with either"],
        [{ "schedule-id": nowhere, fn: "main/echo" }, "event_data must be an object with either"],
        [{ "schedule-id": "x" }, "must be a UUID"],
        [{ fn: 1 }, "event_data.fn must be"],
        [{ "schedule-id": nowhere }, "there is no such schedule"],
        [{ "schedule-id": once.event_id }, "there is no such schedule"],
        [{ fn: "main/echo" }, "there is no such schedule"],
        [{ fn: "main/nothing" }, "there is no such schedule"]
      ]
      for (const [data, reason] of wrong) assert.include(yield* refusal(cancel(env, data)), reason)
    })
  )

  check("does not reach other environments", (env) =>
    Effect.gen(function* () {
      const other = yield* deployed("app", "elsewhere")
      const event = yield* create(env, { fn: "main/echo", schedule: "PT1M" })
      assert.include(yield* refusal(cancel(other, { "schedule-id": event.event_id })), "there is no such schedule")
      assert.include(yield* refusal(cancel(other, { fn: "main/echo" })), "there is no such schedule")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* scheduled(env)).length, 1)
    })
  )
})

describe("svc.schedules", () => {
  const publishAndWait = Effect.fnUntraced(function* (env: Env, type: string, data: Schema.Json) {
    const { event_id } = yield* publish(env, type, data)
    yield* settle
    return { event_id, result: (yield* runsOf(env, event_id))[0]?.result ?? "" }
  })

  check("creates and cancels within a run", (env) =>
    Effect.gen(function* () {
      const one = yield* publishAndWait(env, "create", { fn: "main/echo", args: [7], schedule: "* * * * *" })
      const { schedule_id } = JSON.parse(one.result)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* results(env), ["[7]"])
      assert.strictEqual(Object(yield* ticks(env))[0].schedule_id, schedule_id)
      assert.strictEqual((yield* publishAndWait(env, "cancel", { id: schedule_id })).result, "null")
      yield* publishAndWait(env, "create", { fn: "main/other", schedule: "PT1M" })
      yield* publishAndWait(env, "cancel", { fn: "main/other" })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* results(env), ["[7]"])
    })
  )

  check("reports errors to the guest", (env) =>
    Effect.gen(function* () {
      for (const [type, data, reason] of [
        ["create", { fn: "main/echo", schedule: "soon" }, "BadRequest: event_data.schedule must be"],
        ["create", { fn: "main/echo" }, "TypeError"],
        ["cancel", {}, "BadRequest: svc.schedules.cancel takes"],
        ["cancel", { id: nowhere }, "BadRequest: event_data: there is no such schedule"]
      ] as const) {
        assert.include((yield* publishAndWait(env, type, data)).result, reason)
      }
    })
  )
})
