/** Many computing runs of one build, which have to wait for each other. */
import { assert, describe, it } from "@effect/vitest"
import type { Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { type Call, prepareTenant } from "./Tenant.ts"

const script = `
export const compute = (ms) => {
  const end = Date.now() + ms
  while (Date.now() < end);
  return end
}
`

const withSandbox = <A, E>(body: Effect.Effect<A, E, Sandbox>) => Effect.provide(body, sandbox({ runners: 1 }))

/** Starts `count` runs of `ms` milliseconds each; returns their outcomes, and the delay between end and receipt. */
const computed = Effect.fnUntraced(function* (count: number, ms: number, call: Call) {
  const tenant = yield* prepareTenant(1, script)
  const one = Effect.map(tenant.call("compute", { svc: { event: ms, run: {} }, ...call }), ({ outcome }) => ({
    outcome: outcome._tag,
    latencyMs: outcome._tag === "Returned" ? Date.now() - Number(outcome.output) : Number.NaN
  }))
  return yield* Effect.all(
    Array.from({ length: count }, () => one),
    { concurrency: "unbounded" }
  )
})

describe("a queue of computing runs", () => {
  it.live("returns each result soon after the run's end, not after the end of all", () =>
    withSandbox(
      Effect.gen(function* () {
        const ends = yield* computed(60, 30, { timeoutMs: 60_000 })
        assert.deepStrictEqual([...new Set(ends.map(({ outcome }) => outcome))], ["Returned"])
        const lags = ends.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
        // All of them together compute for 1800 ms.
        assert.isBelow(lags[30] ?? Number.NaN, 450)
      })
    )
  )

  it.live("counts towards the timeout of a run only if a client waits for it", () =>
    withSandbox(
      Effect.gen(function* () {
        const patient = yield* computed(20, 100, { timeoutMs: 600, patienceMs: 60_000 })
        assert.deepStrictEqual([...new Set(patient.map(({ outcome }) => outcome))], ["Returned"])
        const awaited = yield* computed(20, 100, { timeoutMs: 600 })
        assert.deepStrictEqual([...new Set(awaited.map(({ outcome }) => outcome))].sort(), ["Returned", "TimedOut"])
      })
    )
  )

  it.live("does not protect runs that compute for too long, or that wait longer than `patienceMs`", () =>
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
