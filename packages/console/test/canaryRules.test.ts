import { assert, describe, it } from "@effect/vitest"
import { rulesOf } from "../src/builds/CanaryRules.ts"

describe("rules of a canary", () => {
  const settings = {
    ...{ share: 0.1, key: null, window_ms: 600_000, min_runs: 10, promote: "auto" as const },
    ...{ max_failure_share: null, max_failure_share_over_base: 0.05, max_latency_ratio: 2 }
  }
  const side = (runs: number, failures: number, p95_ms: number | null) => ({
    ...{ runs, failures, failure_share: runs === 0 ? 0 : failures / runs, p95_ms }
  })
  const statesOf = (canary: ReturnType<typeof side>, base: ReturnType<typeof side>) =>
    rulesOf({ settings, counts: { canary, base } }).map(({ state }) => state)

  it("are open before there are enough runs, the latency of both builds", () => {
    assert.deepStrictEqual(statesOf(side(9, 9, 50), side(90, 0, 10)), ["open", "open"])
    assert.deepStrictEqual(statesOf(side(10, 1, 50), side(5, 0, 10)), ["broken", "open"])
  })

  it("hold up to their limits", () => {
    assert.deepStrictEqual(statesOf(side(100, 5, 20), side(100, 0, 10)), ["holds", "holds"])
    assert.deepStrictEqual(statesOf(side(100, 6, 21), side(100, 0, 10)), ["broken", "broken"])
  })
})
