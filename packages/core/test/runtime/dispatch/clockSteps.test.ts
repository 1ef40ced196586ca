/** Delayed work when the system clock is set while timers run as before. */
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Clock, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, publish, settle, world } from "../../world.ts"

const hour = 3_600_000

/** Returns a clock whose time is `step.ms` ahead; its timers are not affected. */
const steppedClock = <C extends Clock.Clock>(clock: C, step: { readonly ms: number }): C =>
  Object.assign(Object.create(clock), {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + step.ms,
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + step.ms),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(step.ms) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(step.ms) * 1_000_000n)
  })

let attempts = 0
const modules = {
  nightly: { main: { atNight: Object.assign(() => "done", { meta: { schedule: "0 0 * * *" } }) } },
  app: {
    main: {
      flaky: Object.assign(
        () => {
          attempts++
          if (attempts < 2) throw new Error("not yet")
          return "done"
        },
        { meta: { event: "flaky", retry: { attempts: 2, delay: "1h", jitter: false } } }
      )
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const statuses = (env: Env) => Effect.map(allRuns(env), (runs) => runs.map((run) => run.status))

/** Runs a test with a clock that is `step.ms` ahead. */
const withStep = <A, E>(body: (step: { ms: number }) => Effect.Effect<A, E, World>) =>
  Effect.gen(function* () {
    const step = { ms: 0 }
    const clock = steppedClock(yield* Clock.Clock, step)
    return yield* body(step).pipe(Effect.provide(world(modules)), Effect.provideService(Clock.Clock, clock))
  })

describe("a tick that is due after the clock was set", () => {
  it.effect("fires at the next poll", () =>
    withStep((step) =>
      Effect.gen(function* () {
        const env = yield* deployed("nightly")
        yield* TestClock.adjust("1 second")
        yield* settle
        assert.deepStrictEqual(yield* statuses(env), [])
        step.ms = 24 * hour
        for (const next of ["31 seconds", "1 second"] as const) {
          yield* TestClock.adjust(next)
          yield* settle
        }
        assert.deepStrictEqual(yield* statuses(env), ["succeeded"])
      })
    )
  )
})

describe("a delivery that is due after the clock was set", () => {
  it.effect("is claimed at the next poll", () =>
    withStep((step) =>
      Effect.gen(function* () {
        const env = yield* deployed("app")
        yield* publish(env, "flaky")
        yield* settle
        assert.deepStrictEqual(yield* statuses(env), ["failed"])
        step.ms = 2 * hour
        yield* TestClock.adjust("31 seconds")
        yield* settle
        assert.deepStrictEqual(yield* statuses(env), ["succeeded", "failed"])
      })
    )
  )
})
