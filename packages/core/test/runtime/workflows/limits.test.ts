/** Limits of durable functions: what one run may store, and what its events may cost. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, Runs } from "@weft/core"
import type { TrustedModule } from "@weft/core/testing"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, runsOf, settle, world } from "../../world.ts"

interface Durable {
  readonly step: (name: string, body: () => unknown) => Promise<Schema.Json>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (name: string, wait: Schema.Json) => Promise<Schema.Json>
  readonly createToken: (name: string) => Promise<Schema.Json>
}

const durable = (event: string, fn: (event: Readonly<Record<string, unknown>>, svc: Durable) => unknown) =>
  Object.assign(fn, { meta: { event, durable: true, timeout: "2d" } })

const main = (functions: TrustedModule[string]) => world({ shop: { main: functions } })

const publish = (env: Env, type: string, data: Schema.Json = null) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type, data }))
  )

const resultOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  return { status: run?.status, result: JSON.parse(run?.result ?? "null") }
})

/** Runs the function to its end. */
const run = (fn: ReturnType<typeof durable>, rounds = 1, data: Schema.Json = {}) =>
  Effect.gen(function* () {
    const env = yield* deployed("shop")
    const { event_id } = yield* publish(env, "go", data)
    for (let round = 0; round < rounds; round++) {
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* settle
    }
    return yield* resultOf(env, event_id)
  }).pipe(Effect.provide(main({ fn })))

/** Returns the error that the call throws, as text. */
const caught = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    return `no error: ${JSON.stringify(await call())}`
  } catch (error) {
    return `${error}`
  }
}

describe("a durable run", () => {
  it.effect("makes at most 10,000 requests, also if they are sleeps without a duration", () =>
    Effect.gen(function* () {
      let made = 0
      const fn = durable("go", (_, svc) =>
        caught(async () => {
          for (;;) {
            await svc.sleep("zero", 0)
            made++
          }
        })
      )
      const { result } = yield* run(fn)
      assert.include(
        result,
        "LimitExceeded: a run may have at most 10000 steps (max_steps_per_run): use svc.continueAsNew"
      )
      assert.strictEqual(made, 10_000)
    })
  )

  it.effect("stores at most 8 MiB of results", () =>
    Effect.gen(function* () {
      let made = 0
      const fn = durable("go", (_, svc) =>
        caught(async () => {
          for (;;) {
            await svc.step("large", () => "x".repeat(200_000))
            made++
          }
        })
      )
      const { result } = yield* run(fn)
      assert.include(result, "LimitExceeded: the results of a run may have at most 8388608 characters")
      assert.strictEqual(made, Math.floor(8_388_608 / 200_002))
    })
  )

  it.effect("creates no token if its results leave no place for one", () =>
    Effect.gen(function* () {
      const fn = durable("go", async (_, svc) => {
        for (let left = 8_388_600; left > 0; left -= 200_000) {
          await svc.step("large", () => "x".repeat(Math.min(left, 200_000) - 2))
        }
        return caught(() => svc.createToken("approval"))
      })
      const { result, token } = yield* Effect.gen(function* () {
        const env = yield* deployed("shop")
        const { event_id } = yield* publish(env, "go", {})
        for (let round = 0; round < 3; round++) {
          yield* settle
          yield* TestClock.adjust("1 hour")
        }
        const [{ run_id = "" } = {}] = yield* runsOf(env, event_id)
        const { items } = yield* asHost(
          env,
          Runs.use((runs) => runs.steps(run_id, { limit: 1, offset: 42 }))
        )
        return { ...(yield* resultOf(env, event_id)), token: items[0] }
      }).pipe(Effect.provide(main({ fn })))
      const message = "the results of a run may have at most 8388608 characters"
      assert.include(result, `LimitExceeded: ${message}`)
      assert.deepInclude(token, { kind: "token", name: "approval", ok: false })
      assert.include(token?.result, message)
    })
  )

  it.effect("waits for at most 100 events at the same time", () =>
    Effect.gen(function* () {
      const fn = durable("go", async (_, svc) => {
        const waits = Array.from({ length: 102 }, (__, n) =>
          svc.waitForEvent(`wait ${n}`, { event: `never ${n}`, timeout: "30m" }).catch((error: Error) => error.message)
        )
        return (await Promise.all(waits)).filter((result) => result !== null)
      })
      const { result } = yield* run(fn, 2)
      const refused = "a run may wait for at most 100 events at the same time"
      assert.deepStrictEqual(result, [refused, refused])
    })
  )

  it.effect("does not receive an event that is larger than the result of a step may be", () =>
    Effect.gen(function* () {
      const fn = durable("go", async (_, svc) => {
        const first = await caught(() => svc.waitForEvent("large", { event: "large" }))
        await svc.sleep("pause", "10m")
        return first
      })
      return yield* Effect.gen(function* () {
        const env = yield* deployed("shop")
        const { event_id } = yield* publish(env, "go")
        yield* settle
        yield* publish(env, "large", { text: "x".repeat(300_000) })
        yield* settle
        yield* settle
        yield* TestClock.adjust("1 hour")
        yield* settle
        const { result } = yield* resultOf(env, event_id)
        assert.include(result, 'ResultTooLarge: the event of the wait "large" has over 262144 characters')
      }).pipe(Effect.provide(main({ fn })))
    })
  )

  it.effect("rejects a match that is too deep or too long, without an internal error", () =>
    Effect.gen(function* () {
      const deep: Schema.Json = JSON.parse(`${"[".repeat(1_500)}${"]".repeat(1_500)}`)
      const fn = durable("go", async (_, svc) => [
        await caught(() => svc.waitForEvent("deep", { event: "x", match: { a: deep } })),
        await caught(() => svc.waitForEvent("long", { event: "x", match: { a: "x".repeat(1_024) } }))
      ])
      const { result } = yield* run(fn)
      assert.include(result[0], "TypeError: svc.wait: its arguments are nested deeper than 504 levels")
      assert.include(result[1], "TypeError: svc.waitForEvent: match must map paths")
    })
  )

  it.effect("receives its event although others of the type are deep, wide or many", () =>
    Effect.gen(function* () {
      const fn = durable("go", async (_, svc) => svc.waitForEvent("mine", { event: "paid", match: { order: 7 } }))
      return yield* Effect.gen(function* () {
        const env = yield* deployed("shop")
        const { event_id } = yield* publish(env, "go")
        yield* settle
        yield* publish(env, "paid", { order: JSON.parse(`${"[".repeat(1_500)}${"]".repeat(1_500)}`) })
        for (let n = 0; n < 1_500; n++) yield* publish(env, "paid", { order: 100 + n })
        yield* publish(env, "paid", { order: 7 })
        yield* settle
        yield* settle
        yield* TestClock.adjust("1 minute")
        yield* settle
        assert.strictEqual((yield* resultOf(env, event_id)).status, "succeeded")
      }).pipe(Effect.provide(main({ fn })))
    })
  )
})
