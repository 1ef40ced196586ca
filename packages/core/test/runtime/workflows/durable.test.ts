/** Durable functions with virtual time: an approval of days, retries, fan-out, and the rules of replay. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, RunControl } from "@weft/core"
import type { TrustedModule } from "@weft/core/testing"
import { type Duration, Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"

interface Durable {
  readonly step: <A>(
    name: string,
    body: (context: { readonly attempt: number; readonly idempotencyKey: string }) => A | Promise<A>,
    options?: Schema.Json
  ) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (
    name: string,
    wait: Schema.Json
  ) => Promise<{ readonly event_data: Readonly<Record<string, string>> } | null>
  readonly now: () => number
  readonly log: { readonly info: (message: string) => void }
}

const durable = (event: string, fn: (event: Readonly<Record<string, unknown>>, svc: Durable) => unknown, meta = {}) =>
  Object.assign(fn, { meta: { event, durable: true, ...meta } })

const main = (functions: TrustedModule[string]) => world({ shop: { main: functions } })

const status = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  return { status: run?.status, waiting: run?.waiting ?? null, result: run?.result ?? null, run_id: run?.run_id }
})

const pass = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settle)

describe("a durable function", () => {
  const done: Array<string> = []
  const approval = durable("order", async (_, svc) => {
    const price = await svc.step("price", () => {
      done.push("price")
      return 42
    })
    const answer = await svc.waitForEvent("approval", { event: "approved", match: { order: "o1" }, timeout: "3d" })
    if (answer === null) return { approved: false }
    await svc.step("ship", () => {
      done.push("ship")
    })
    return { approved: true, price, by: answer.event_data.by ?? "" }
  })

  it.effect("waits for an approval for days", () =>
    Effect.gen(function* () {
      done.length = 0
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "order")
      yield* settle
      assert.deepInclude(JSON.parse((yield* status(env, event_id)).waiting ?? "{}"), { for: "event", name: "approval" })
      yield* pass("2 days")
      yield* publish(env, "approved", { order: "o2", by: "eve" })
      yield* settle
      assert.strictEqual((yield* status(env, event_id)).status, "running")
      yield* publish(env, "approved", { order: "o1", by: "bob" })
      yield* settle
      yield* settle
      const { status: ended, result } = yield* status(env, event_id)
      assert.strictEqual(ended, "succeeded")
      assert.deepStrictEqual(JSON.parse(result ?? ""), { approved: true, price: 42, by: "bob" })
      assert.deepStrictEqual(done, ["price", "ship"])
    }).pipe(Effect.provide(main({ approval })))
  )

  it.effect("continues at once if its event is found while the run is being suspended", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "late")
      yield* settle
      yield* publish(env, "approved", { order: "o1", by: "bob" })
      yield* publish(env, "go")
      // Polls of the store, every 30 s, would find it as well.
      for (let turns = 0; turns < 10; turns++) yield* settle
      assert.deepStrictEqual(JSON.parse((yield* status(env, event_id)).result ?? "null"), { by: "bob" })
    }).pipe(
      Effect.provide(
        main({
          late: durable("late", async (_, svc) => {
            await svc.waitForEvent("go", { event: "go" })
            const answer = await svc.waitForEvent("approval", { event: "approved", since: "start" })
            return { by: answer?.event_data.by ?? "" }
          })
        })
      )
    )
  )

  it.effect("continues with null after the timeout of a wait, not earlier", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "order")
      yield* settle
      yield* pass("71 hours")
      assert.strictEqual((yield* status(env, event_id)).status, "running")
      yield* pass("61 minutes")
      assert.deepStrictEqual(JSON.parse((yield* status(env, event_id)).result ?? ""), { approved: false })
    }).pipe(Effect.provide(main({ approval })))
  )

  it.effect("ends when it is cancelled while it sleeps", () => {
    const sleeper = durable("sleep", async (_, svc) => {
      await svc.sleep("long", "2d")
      return "late"
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "sleep")
      yield* settle
      const { run_id = "" } = yield* status(env, event_id)
      yield* asHost(
        env,
        RunControl.use((control) => control.cancel(run_id))
      )
      yield* pass("50 hours")
      assert.strictEqual((yield* status(env, event_id)).status, "cancelled")
    }).pipe(Effect.provide(main({ sleeper })))
  })

  it.effect("fails when its timeout ends while it sleeps", () => {
    const sleeper = durable("sleep", (_, svc) => svc.sleep("long", "30d"), { timeout: "2d" })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "sleep")
      yield* settle
      yield* pass("3 days")
      const { status: ended, result } = yield* status(env, event_id)
      assert.strictEqual(ended, "failed")
      assert.strictEqual(JSON.parse(result ?? "").error.name, "TimedOut")
    }).pipe(Effect.provide(main({ sleeper })))
  })

  it.effect("receives parallel results in the same order in each replay", () => {
    const orders: Array<ReadonlyArray<number>> = []
    const fan = durable("fan", async (_, svc) => {
      const order: Array<number> = []
      await Promise.all(
        Array.from({ length: 50 }, async (__, n) => {
          await svc.step(`part ${n}`, async () => {
            for (let turn = 0; turn < (n * 7) % 13; turn++) await Promise.resolve()
          })
          order.push(n)
        })
      )
      orders.push(order)
      await svc.sleep("pause", "1h")
      return order.length
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "fan")
      yield* settle
      yield* settle
      yield* pass("2 hours")
      assert.strictEqual((yield* status(env, event_id)).result, "50")
      assert.strictEqual(orders.length, 2)
      assert.deepStrictEqual(orders[1], orders[0])
    }).pipe(Effect.provide(main({ fan })))
  })

  it.effect("repeats a step by the policy of the function, and fails with its last error", () => {
    const attempts: Array<number> = []
    const flaky = durable(
      "flaky",
      (_, svc) =>
        svc.step("call", ({ attempt }) => {
          attempts.push(attempt)
          throw new RangeError(`attempt ${attempt}`)
        }),
      { retry: { attempts: 3, delay: "1h", backoff: 1, jitter: false } }
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "flaky")
      yield* settle
      assert.deepStrictEqual(attempts, [1])
      assert.strictEqual(JSON.parse((yield* status(env, event_id)).waiting ?? "{}").for, "retry")
      yield* pass("1 hour")
      yield* pass("1 hour")
      const { status: ended, result } = yield* status(env, event_id)
      assert.deepStrictEqual(attempts, [1, 2, 3])
      assert.strictEqual(ended, "failed")
      assert.deepInclude(JSON.parse(result ?? "").error, { name: "RangeError", message: "attempt 3" })
    }).pipe(Effect.provide(main({ flaky })))
  })
})
