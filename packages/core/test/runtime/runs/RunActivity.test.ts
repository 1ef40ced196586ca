import { assert, describe, it } from "@effect/vitest"
import { Runs } from "@weft/core"
import type { TrustedFunction } from "@weft/core/testing"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, publish, settle, world } from "../../world.ts"

const on = (event: string, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, { meta: { event } })

const modules = {
  shop: {
    main: {
      fine: on("fine", () => 1),
      broken: on("broken", () => {
        throw new TypeError("broken")
      }),
      worse: on("worse", () => {
        throw new TypeError("worse")
      })
    }
  }
}

describe("the activity of runs", () => {
  it.effect("counts ended runs by minute and outcome, and functions by their failures", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* TestClock.adjust("2 minutes")
      const send = (type: string) => Effect.andThen(publish(env, type, null), settle)
      for (const type of ["fine", "broken"]) yield* send(type)
      yield* TestClock.adjust("1 minute")
      for (const type of ["fine", "worse", "worse"]) yield* send(type)
      const activity = yield* asHost(env, (yield* Runs).activity(Duration.hours(1)))
      assert.isTrue(activity.complete)
      assert.deepStrictEqual(
        activity.minutes.map(({ time, succeeded, failed, cancelled }) => [time, succeeded, failed, cancelled]),
        [
          [120_000, 1, 1, 0],
          [180_000, 1, 2, 0]
        ]
      )
      assert.deepStrictEqual(
        activity.failures.map((failure) => [failure.var, failure.failed]),
        [
          ["worse", 2],
          ["broken", 1]
        ]
      )
      const recent = yield* asHost(env, (yield* Runs).activity(Duration.seconds(1)))
      assert.deepStrictEqual(
        recent.minutes.map(({ failed }) => failed),
        [2]
      )
    }).pipe(Effect.provide(world(modules)))
  )
})
