/** Fan-out, and the options of steps, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { deployed, settle } from "../../world.ts"
import { begin, durable, errorOf, logOf, main, pass, runOf } from "./DurableFunction.ts"

describe("a step", () => {
  it.effect("fails with StepTimeout after its timeout, and its signal aborts", () => {
    const done: Array<string> = []
    const slow = durable("slow", (_, svc) =>
      svc.step(
        "call",
        ({ attempt, signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => done.push(`abort ${attempt}`))
            if (attempt === 2) resolve("late")
          }),
        { timeout: "10s", retry: { attempts: 2, delay: "1m", jitter: false } }
      )
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "slow")
      yield* pass("10 seconds")
      assert.deepStrictEqual(done, ["abort 1"])
      assert.deepInclude(JSON.parse((yield* runOf(env, id)).waiting ?? "{}"), { for: "retry", name: "call" })
      yield* pass("1 minute")
      assert.strictEqual((yield* runOf(env, id)).result, '"late"')
    }).pipe(Effect.provide(main({ slow })))
  })

  it.effect("is not repeated after an error that is not retryable", () => {
    const attempts: Array<string> = []
    const retry = { attempts: 5, delay: "1s", jitter: false }
    const failing = durable("failing", async (_, svc) => {
      const attempt = (error: Error) =>
        svc
          .step(
            error.message,
            () => {
              attempts.push(error.message)
              throw error
            },
            { retry }
          )
          .catch(() => undefined)
      await attempt(Object.assign(new Error("flag"), { nonRetryable: true }))
      await attempt(Object.assign(new Error("name"), { name: "NonRetryable" }))
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "failing")
      yield* settle
      assert.deepStrictEqual(attempts, ["flag", "name"])
      assert.strictEqual((yield* runOf(env, id)).status, "succeeded")
    }).pipe(Effect.provide(main({ failing })))
  })

  it.effect("waits for retryAfter of its error instead of the delay of its policy", () => {
    const attempts: Array<number> = []
    const limited = durable("limited", (_, svc) =>
      svc.step(
        "call",
        ({ attempt }) => {
          attempts.push(attempt)
          if (attempt === 1) throw Object.assign(new Error("busy"), { retryAfter: 3_600_000 })
          // The date is in the past.
          if (attempt === 2) throw Object.assign(new Error("busy"), { retryAfter: new Date(0) })
          if (attempt === 3) throw Object.assign(new Error("busy"), { retryAfter: "PT2H" })
          return "ok"
        },
        { retry: { attempts: 4, delay: "1s" } }
      )
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "limited")
      yield* pass("59 minutes")
      assert.deepStrictEqual(attempts, [1])
      yield* pass("1 minute")
      assert.deepStrictEqual(attempts, [1, 2, 3])
      yield* pass("2 hours")
      assert.deepStrictEqual(attempts, [1, 2, 3, 4])
      assert.strictEqual((yield* runOf(env, id)).result, '"ok"')
    }).pipe(Effect.provide(main({ limited })))
  })
})

describe("svc.all", () => {
  it.effect("limits concurrent calls, and returns the results in the order of the items", () => {
    let active = 0
    let most = 0
    const replays: Array<ReadonlyArray<number>> = []
    const fan = durable("fan", async (_, svc) => {
      const order: Array<number> = []
      const items = Array.from({ length: 40 }, (__, n) => n)
      const results = await svc.all(
        items,
        async (item, index) => {
          const result = await svc.step(`part ${item}`, async () => {
            most = Math.max(most, ++active)
            for (let turn = 0; turn < (item * 7) % 13; turn++) await Promise.resolve()
            active--
            return item * 2
          })
          order.push(index)
          return result
        },
        { concurrency: 4 }
      )
      replays.push(order)
      await svc.sleep("pause", "1h")
      return results
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "fan")
      yield* settle
      yield* pass("1 hour")
      assert.deepStrictEqual(
        JSON.parse((yield* runOf(env, id)).result ?? ""),
        Array.from({ length: 40 }, (_, n) => n * 2)
      )
      // The body of the next step starts in another turn than the end of the previous one.
      assert.isAtMost(most, 4)
      assert.isAbove(most, 2)
      assert.strictEqual(replays.length, 2)
      assert.deepStrictEqual(replays[1], replays[0])
    }).pipe(Effect.provide(main({ fan })))
  })
})

describe("an effect outside of a step", () => {
  const publishing = (event: string, meta = {}) =>
    durable(
      event,
      async (_, svc) => {
        await svc.step("inside", () => svc.events.publish({ type: "other", data: null }))
        await svc.events.publish({ type: "other", data: null })
        await svc.events.publish({ type: "other", data: null })
      },
      meta
    )
  const message = "events.publish outside of a step would run again in each replay: wrap it in svc.step"

  it.effect("is a warning in the log, once", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "loose")
      yield* settle
      assert.strictEqual((yield* runOf(env, id)).status, "succeeded")
      assert.deepStrictEqual(yield* logOf(env, id), [["warn", message]])
    }).pipe(Effect.provide(main({ loose: publishing("loose") })))
  )

  it.effect("is refused if the function is strict", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "strict")
      yield* settle
      assert.deepStrictEqual(yield* errorOf(env, id), { status: "failed", name: "OutsideStep", message })
    }).pipe(Effect.provide(main({ strict: publishing("strict", { durable: { strict: true } }) })))
  )
})
