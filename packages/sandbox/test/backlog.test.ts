/** Many runs of one build that compute, and so have to wait for each other. */
import { assert, describe, it } from "@effect/vitest"
import type { Sandbox } from "@weft/core"
import { Effect } from "effect"
import { isolated } from "../src/index.ts"
import { type Call, tenantOf } from "./Tenant.ts"

const script = `
export const compute = (ms) => {
  const end = Date.now() + ms
  while (Date.now() < end);
  return end
}
`

const withSandbox = <A, E>(body: Effect.Effect<A, E, Sandbox>) => Effect.provide(body, isolated({ runners: 1 }))

/** So many at once, of so many milliseconds each; when each was heard to have ended, by the tag or the time it says itself. */
const computed = Effect.fnUntraced(function* (count: number, ms: number, call: Call) {
  const tenant = yield* tenantOf(1, script)
  const one = Effect.map(tenant.call("compute", { svc: { event: ms, run: {} }, ...call }), ({ outcome }) => ({
    outcome: outcome._tag,
    heardAfterMs: outcome._tag === "Returned" ? Date.now() - Number(outcome.output) : Number.NaN
  }))
  return yield* Effect.all(
    Array.from({ length: count }, () => one),
    { concurrency: "unbounded" }
  )
})

describe("a backlog of runs that compute", () => {
  it.live("has each answered soon after it has ended, not when all have", () =>
    withSandbox(
      Effect.gen(function* () {
        const ends = yield* computed(60, 30, { timeoutMs: 60_000 })
        assert.deepStrictEqual([...new Set(ends.map(({ outcome }) => outcome))], ["Returned"])
        const lags = ends.map(({ heardAfterMs }) => heardAfterMs).sort((a, b) => a - b)
        // All of them together compute for 1800 ms.
        assert.isBelow(lags[30] ?? Number.NaN, 450)
      })
    )
  )

  it.live(
    "is held against none of them where nobody waits, and against those that come too late where somebody does",
    () =>
      withSandbox(
        Effect.gen(function* () {
          const patient = yield* computed(20, 100, { timeoutMs: 600, patienceMs: 60_000 })
          assert.deepStrictEqual([...new Set(patient.map(({ outcome }) => outcome))], ["Returned"])
          const awaited = yield* computed(20, 100, { timeoutMs: 600 })
          assert.deepStrictEqual([...new Set(awaited.map(({ outcome }) => outcome))].sort(), ["Returned", "TimedOut"])
        })
      )
  )

  it.live("still ends those that take too long themselves, and those that were patient for too long", () =>
    withSandbox(
      Effect.gen(function* () {
        const slow = yield* computed(1, 900, { timeoutMs: 300, patienceMs: 60_000 })
        assert.deepStrictEqual(
          slow.map(({ outcome }) => outcome),
          ["TimedOut"]
        )
        const late = yield* computed(20, 100, { timeoutMs: 300, patienceMs: 500 })
        assert.deepStrictEqual([...new Set(late.map(({ outcome }) => outcome))].sort(), ["Returned", "TimedOut"])
      })
    )
  )
})
