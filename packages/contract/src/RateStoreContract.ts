/** Contract of `RateStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { RateStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import * as fc from "fast-check"
import { type Check, check, suite } from "./Check.ts"
import { at, orgId } from "./Samples.ts"

export const rateStoreContract = <E>(adapter: string, layer: Layer.Layer<RateStore, E>) =>
  suite(`RateStore contract: ${adapter}`, rateStoreChecks, layer)

const take = (now: number, perSecond: number, n = 1) =>
  RateStore.use((store) => store.take(orgId(n), perSecond, at(now)))

/** Requests of one organization: the milliseconds since the previous request. */
const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 30 }), fc.nat({ max: 3000 })), {
  minLength: 1,
  maxLength: 80
})

const histories = fc.sample(fc.record({ perSecond: fc.integer({ min: 1, max: 40 }), gaps }), { numRuns: 60, seed: 7 })

/** Returns the instants of granted requests. Each history has its own organization. */
const granted = (n: number, perSecond: number, between: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    let now = 0
    const instants: Array<number> = []
    for (const gap of between) {
      now += gap
      if ((yield* take(now, perSecond, n)) === 0) instants.push(now)
    }
    return instants
  })

export const rateStoreChecks: ReadonlyArray<Check<RateStore>> = [
  check("grants one second's permits immediately, and then no more", function* () {
    for (const [index, perSecond] of [1, 5, 7, 20, 100, 500].entries()) {
      for (let request = 0; request < perSecond; request++) {
        assert.strictEqual(yield* take(0, perSecond, index), 0, `${request} of ${perSecond}`)
      }
      assert.isAbove(yield* take(0, perSecond, index), 0)
    }
  }),

  check("refills evenly over a second", function* () {
    for (let request = 0; request < 20; request++) yield* take(0, 20)
    assert.strictEqual(yield* take(0, 20), 50)
    assert.strictEqual(yield* take(20, 20), 30)
    assert.strictEqual(yield* take(49, 20), 1)
    assert.strictEqual(yield* take(50, 20), 0)
    assert.strictEqual(yield* take(50, 20), 50)
    assert.strictEqual(yield* take(155, 20), 0)
    assert.strictEqual(yield* take(155, 20), 0)
    assert.strictEqual(yield* take(155, 20), 45)
  }),

  check("saves at most one second's permits", function* () {
    yield* take(0, 5)
    for (let request = 0; request < 5; request++) assert.strictEqual(yield* take(60_000, 5), 0)
    assert.strictEqual(yield* take(60_000, 5), 200)
  }),

  check("has a bucket for each organization", function* () {
    assert.strictEqual(yield* take(0, 1, 1), 0)
    assert.strictEqual(yield* take(0, 1, 2), 0)
    assert.strictEqual(yield* take(0, 1, 1), 1000)
  }),

  check("applies a changed rate from the next request on, with a full second", function* () {
    for (let request = 0; request < 5; request++) yield* take(0, 5)
    assert.isAbove(yield* take(0, 5), 0)
    assert.strictEqual(yield* take(100, 100), 0)
    for (let request = 1; request < 100; request++) assert.strictEqual(yield* take(100, 100), 0)
    assert.strictEqual(yield* take(100, 100), 10)
    for (let request = 0; request < 2; request++) assert.strictEqual(yield* take(60_000, 2), 0)
    assert.strictEqual(yield* take(60_000, 2), 500)
  }),

  check("grants nothing twice when the clock goes back", function* () {
    yield* take(1000, 1)
    assert.strictEqual(yield* take(0, 1), 2000)
    assert.strictEqual(yield* take(1000, 1), 1000)
    assert.strictEqual(yield* take(2000, 1), 0)
  }),

  check("grants at most the rate plus one second of it in any period", function* () {
    for (const [index, { perSecond, gaps: between }] of histories.entries()) {
      const instants = yield* granted(index, perSecond, between)
      for (const [first, from] of instants.entries()) {
        for (const [last, to] of instants.entries()) {
          if (last >= first) assert.isAtMost(last - first + 1, perSecond + ((to - from) * perSecond) / 1000)
        }
      }
    }
  }),

  check("grants a refused request exactly after the returned wait", function* () {
    for (const [index, { perSecond, gaps: between }] of histories.entries()) {
      let now = 0
      for (const gap of between) {
        now += gap
        const wait = yield* take(now, perSecond, index)
        if (wait === 0) continue
        assert.isAbove(wait, 0)
        assert.isAtMost(wait, 1000)
        if (wait > 1) assert.strictEqual(yield* take(now + wait - 1, perSecond, index), 1)
        now += wait
        assert.strictEqual(yield* take(now, perSecond, index), 0)
      }
    }
  })
]
