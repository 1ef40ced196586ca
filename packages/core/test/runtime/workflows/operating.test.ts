/** Reading and operating durable runs: steps, waits, wake-ups, activity and the limits of the plan. */
import { assert, describe, it } from "@effect/vitest"
import { AuditLog, type Env, type Events, type PlanOverrides, RunControl, Runs, Streams } from "@weft/core"
import { type ActivityEvent, type Run, toJsonText } from "@weft/core/adapter"
import type { TrustedModule } from "@weft/core/testing"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"

interface Durable {
  readonly step: <A>(name: string, body: () => A | Promise<A>, options?: Schema.Json) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (name: string, wait: Schema.Json) => Promise<unknown>
}

const durable = (event: string, fn: (event: Readonly<Record<string, unknown>>, svc: Durable) => unknown, meta = {}) =>
  Object.assign(fn, { meta: { event, durable: true, ...meta } })

const naps: TrustedModule[string] = {
  nap: durable("nap", async (_, svc) => {
    await svc.step("before", () => 1)
    await Promise.all([svc.sleep("long", "2d"), svc.waitForEvent("shipped", { event: "shipped", timeout: "30d" })])
  }),
  short: durable("short", async (_, svc) => {
    await svc.sleep("short", "1d")
    return svc.step("after", () => "awake")
  }),
  flaky: durable(
    "flaky",
    (_, svc) => {
      let attempts = 0
      return svc.step("call", () => {
        if (attempts++ === 0 && !woke) throw new Error("not yet")
        return "done"
      })
    },
    { retry: { attempts: 3, delay: "1h", jitter: false } }
  ),
  waits: durable("waits", (_, svc) => svc.waitForEvent("shipped", { event: "shipped" })),
  many: durable("many", async (event, svc) => {
    const { event_data: data } = event
    for (let n = 0; n < Number(data); n++) await svc.step(`step ${n}`, () => n)
    return "all"
  }),
  side: durable("side", async (_, svc) => {
    const naps = ["a", "b"].map((name) => svc.sleep(name, "1h"))
    let made = 0
    const error = await (async () => {
      for (;;) {
        await svc.step("side", () => 1)
        made++
      }
    })().catch(({ name }: Error) => name)
    await Promise.all(naps)
    return [made, error]
  }),
  large: durable("large", (_, svc) => svc.step("large", () => "ø".repeat(100))),
  plain: Object.assign(() => "plain", { meta: { event: "plain" } })
}

/** True once the test has woken the run of `flaky`. */
let woke = false

type Services = AuditLog | Events | RunControl | Runs | Streams

const scene = <A, E>(body: (env: Env) => Effect.Effect<A, E, Services>, plan: PlanOverrides["Self-Host"] = {}) =>
  Effect.gen(function* () {
    woke = false
    return yield* body(yield* deployed("shop"))
  }).pipe(Effect.provide(world({ shop: { main: naps } }, { plans: { "Self-Host": plan } })))

const start = Effect.fnUntraced(function* (env: Env, type: string, data: string | null = null) {
  const { event_id } = yield* publish(env, type, data)
  yield* settle
  return yield* current(env, event_id)
})

const current = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  assert.isDefined(run)
  return run
})

const reload = (env: Env, { run_id }: Run) =>
  asHost(
    env,
    Runs.use((runs) => runs.get(run_id))
  )

const wake = (env: Env, { run_id }: Run) =>
  asHost(
    env,
    RunControl.use((control) => control.wake(run_id))
  )

const stepsOf = (env: Env, { run_id }: Run) =>
  asHost(
    env,
    Runs.use((runs) => runs.steps(run_id, { limit: 100, offset: 0 }))
  )

const waitingOf = ({ waiting }: Run) => JSON.parse(waiting ?? "null")

const logsOf = (env: Env, { run_id }: Run) =>
  Effect.map(
    asHost(
      env,
      Runs.use((runs) => runs.logs(run_id, { limit: 100, offset: 0 }))
    ),
    ({ items }) => items.map(({ level, message }) => `${level} ${message}`)
  )

describe("a suspended run", () => {
  it.effect("lists its results and its open waits", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const run = yield* start(env, "nap")
        const { items, total, waits } = yield* stepsOf(env, run)
        assert.strictEqual(total, 1)
        assert.deepInclude(items[0], { position: 0, seq: 0, kind: "step", name: "before", ok: true, attempts: 1 })
        assert.strictEqual(items[0]?.result, "1")
        assert.deepStrictEqual(
          waits.map(({ kind, name, event_type, seq }) => [kind, name, event_type, seq]),
          [
            ["sleep", "long", null, 1],
            ["event", "shipped", "shipped", 2]
          ]
        )
        assert.deepInclude(run, { steps: 1, activations: 1 })
        assert.deepInclude(waitingOf(run), { for: "timer", name: "long" })
        const plain = yield* start(env, "plain")
        assert.deepStrictEqual(yield* stepsOf(env, plain), { items: [], total: 0, waits: [] })
        assert.deepInclude(plain, { steps: null, activations: null })
      })
    )
  )

  it.effect("is found by what it waits for", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const [nap, event] = [yield* start(env, "nap"), yield* start(env, "waits")]
        const list = (waiting: "timer" | "event" | "retry" | "any") =>
          Effect.map(
            asHost(
              env,
              Runs.use((runs) => runs.list({ limit: 10, offset: 0 }, { waiting }))
            ),
            ({ items }) => items.map(({ run_id }) => run_id)
          )
        assert.deepStrictEqual(yield* list("timer"), [nap.run_id])
        assert.deepStrictEqual(yield* list("event"), [event.run_id])
        assert.deepStrictEqual(yield* list("retry"), [])
        assert.deepStrictEqual(yield* list("any"), [event.run_id, nap.run_id])
      })
    )
  )

  it.effect("continues at once when its sleep is ended, and the audit log has an entry", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const run = yield* start(env, "short")
        assert.deepInclude(waitingOf(run), { for: "timer", name: "short" })
        const woken = yield* wake(env, run)
        assert.strictEqual(woken.run_id, run.run_id)
        yield* settle
        const ended = yield* reload(env, run)
        assert.deepInclude(ended, {
          ...{ status: "succeeded", result: toJsonText("awake"), steps: 2, activations: 2, waiting: null }
        })
        const { items } = yield* stepsOf(env, run)
        assert.isBelow((items[0]?.ended_at ?? 0) - (items[0]?.started_at ?? 0), 1000)
        const audit = yield* AuditLog.use((log) => log.listAll({ action: "run.wake" }, { limit: 10, offset: 0 }))
        assert.deepStrictEqual(
          audit.items.map(({ object_id, object_name, details }) => [object_id, object_name, JSON.parse(details)]),
          [[run.run_id, "shop:main/short", { for: "timer", name: "short" }]]
        )
      })
    )
  )

  it.effect("makes the next attempt at a step when its pause is ended", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const run = yield* start(env, "flaky")
        assert.deepInclude(waitingOf(run), { for: "retry", name: "call" })
        woke = true
        yield* wake(env, run)
        yield* settle
        assert.deepInclude(yield* reload(env, run), { status: "succeeded", result: toJsonText("done") })
        assert.deepInclude((yield* stepsOf(env, run)).items[0], { name: "call", ok: true, attempts: 2 })
      })
    )
  )

  it.effect("that waits for an event, has ended or is not durable cannot be woken, and the error says why", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const refusal = (run: Run) =>
          Effect.map(Effect.flip(wake(env, run)), ({ _tag, message }) => `${_tag} ${message}`)
        const waits = yield* start(env, "waits")
        const rule = "only a sleep or a retry pause of a durable run can be ended"
        assert.strictEqual(
          yield* refusal(waits),
          `BadRequest The run waits for the event "shipped": publish it, because ${rule}`
        )
        assert.strictEqual(yield* refusal(yield* start(env, "plain")), `BadRequest The run has ended: ${rule}`)
        const unknown = RunControl.use((control) => control.wake("01890000-0000-7000-8000-000000000000"))
        assert.strictEqual((yield* Effect.flip(asHost(env, unknown)))._tag, "NotFound")
        const audit = yield* AuditLog.use((log) => log.listAll({ action: "run.wake" }, { limit: 10, offset: 0 }))
        assert.strictEqual(audit.total, 0)
      })
    )
  )
})

describe("the activity of a durable run", () => {
  it.effect("has a message for each result and each suspension, after their commit", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const seen: Array<ActivityEvent> = []
        const subscription = yield* asHost(
          env,
          Streams.use((streams) => streams.ofEnv())
        )
        const receive = Effect.map(subscription.take, (taken) => {
          if (typeof taken !== "string") for (const { activity } of taken.flat()) seen.push(activity)
        })
        yield* Effect.forkScoped(Effect.forever(receive))
        yield* settle
        const run = yield* start(env, "short")
        yield* wake(env, run)
        yield* settle
        const ofRun = seen.filter(({ type }) => type.startsWith("run:"))
        assert.deepStrictEqual(
          ofRun.map(({ type }) => type),
          ["run:start", "run:waiting", "run:step", "run:step", "run:stop"]
        )
        const [, waiting, slept, after] = ofRun
        assert.deepInclude(JSON.parse(waiting?.type === "run:waiting" ? waiting.waiting : ""), {
          for: "timer",
          name: "short"
        })
        assert.deepInclude(slept, { run_id: run.run_id, position: 0, kind: "sleep", name: "short", ok: true })
        assert.deepInclude(after, { run_id: run.run_id, position: 1, kind: "step", name: "after", attempts: 1, ms: 0 })
      }, Effect.scoped)
    )
  )
})

describe("the plan of a durable run", () => {
  it.effect("bounds its steps, and the log warns once at 80 %", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const few = yield* start(env, "many", "7")
        assert.deepStrictEqual(yield* logsOf(env, few), [])
        const near = yield* start(env, "many", "10")
        assert.deepStrictEqual([near.status, near.steps], ["succeeded", 10])
        const warning =
          "warn This run has 8 of the 10 steps that its plan allows (max_steps_per_run): use svc.continueAsNew"
        assert.deepStrictEqual(yield* logsOf(env, near), [warning])
        const over = yield* start(env, "many", "11")
        assert.deepStrictEqual([over.status, over.steps], ["failed", 10])
        assert.deepInclude(JSON.parse(over.result ?? "").error, {
          name: "LimitExceeded",
          message: "a run may have at most 10 steps (max_steps_per_run): use svc.continueAsNew"
        })
      }),
      { max_steps_per_run: 10 }
    )
  )

  it.effect("bounds its steps together with its open waits, whose ends are results as well", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const run = yield* start(env, "side")
        assert.strictEqual(run.steps, 3)
        yield* TestClock.adjust("2 hours")
        yield* settle
        const ended = yield* reload(env, run)
        assert.deepStrictEqual([ended.status, ended.result, ended.steps], ["succeeded", '[3,"LimitExceeded"]', 5])
      }),
      { max_steps_per_run: 5 }
    )
  )

  it.effect("bounds the bytes of a result", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const run = yield* start(env, "large")
        assert.strictEqual(run.status, "failed")
        const { name, message } = JSON.parse(run.result ?? "").error
        assert.strictEqual(name, "ResultTooLarge")
        assert.include(message, "over 201 bytes of JSON (max_step_result_bytes)")
      }),
      { max_step_result_bytes: 201 }
    )
  )

  it.effect("refuses to start durable functions above its suspended runs, and starts others", () =>
    scene(
      Effect.fnUntraced(function* (env) {
        const first = yield* start(env, "waits")
        yield* start(env, "waits")
        yield* TestClock.adjust("6 seconds")
        const refused = yield* Effect.flip(publish(env, "waits"))
        assert.strictEqual(refused._tag, "PlanRequired")
        assert.include(refused.message, "The plan allows 2 suspended runs in an environment (max_suspended_runs)")
        assert.strictEqual((yield* start(env, "plain")).status, "succeeded")
        yield* asHost(
          env,
          RunControl.use((control) => control.cancel(first.run_id))
        )
        yield* TestClock.adjust("6 seconds")
        assert.strictEqual((yield* start(env, "waits")).status, "running")
      }),
      { max_suspended_runs: 2 }
    )
  )
})
