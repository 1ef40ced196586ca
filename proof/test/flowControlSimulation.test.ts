/** Flow control on clusters in virtual time, one per seed, and planted faults, which must be found. */
import { assert, describe, it } from "@effect/vitest"
import { AdmissionStore, type AdmittedDelivery, type FlowRule } from "@weft/core/adapter"
import { Context, Struct } from "effect"
import { type Alter, drawFlowControlScenario, runScenario } from "../src/simulation/index.ts"

const timeout = 120_000

/** Returns the first failing seed with its first broken rule, or null if all hold. */
const findFailure = async (first: number, count: number, store?: Alter): Promise<string | null> => {
  for (let seed = first; seed < first + count; seed++) {
    const { violations } = await runScenario(drawFlowControlScenario(seed), store === undefined ? {} : { store })
    if (violations.length > 0) return `seed ${seed}: ${violations[0]}`
  }
  return null
}

/** A store that changes deliveries before it applies their rules. */
const admitting =
  (change: (each: AdmittedDelivery) => AdmittedDelivery): Alter =>
  (stores) => {
    const store = Context.get(stores, AdmissionStore)
    return Context.add(stores, AdmissionStore, {
      ...store,
      admit: (admission) => store.admit({ ...admission, deliveries: admission.deliveries.map(change) })
    })
  }

/** A store that ignores keys by which events cancel. */
const withoutCancellation: Alter = (stores) => {
  const store = Context.get(stores, AdmissionStore)
  return Context.add(stores, AdmissionStore, {
    ...store,
    admit: (admission) => store.admit(Struct.omit(admission, ["cancels"]))
  })
}

const without = (tag: FlowRule["_tag"]): Alter =>
  admitting((each) => ({ ...each, rules: each.rules.filter(({ _tag }) => _tag !== tag) }))

const withRules = (change: (rule: FlowRule) => FlowRule): Alter =>
  admitting((each) => ({ ...each, rules: each.rules.map(change) }))

describe("A cluster with flow control and faults", () => {
  for (const first of [1, 21]) {
    it(`keeps every limit with seeds ${first} to ${first + 19}`, { timeout }, async () => {
      assert.isNull(await findFailure(first, 20))
    })
  }
})

describe("A cluster with flow control", () => {
  it("counts a late statement after a node has removed expired states (seed 200)", { timeout }, async () => {
    assert.isNull(await findFailure(200, 1))
  })
})

/** Maximum seeds until a fault is found. */
const within = 60

describe("A simulation finds", () => {
  const faults: Record<string, Alter> = {
    "a store that ignores dedupe": without("Dedupe"),
    "a store that ignores rate limits": without("RateLimit"),
    "a store that ignores singletons": without("Singleton"),
    "a store in which no delivery replaces others": without("Replace"),
    "a store in which no event cancels runs": withoutCancellation,
    "a store that ignores debounces": without("Debounce"),
    "a rate limit that admits one more": withRules((rule) =>
      rule._tag === "RateLimit" ? { ...rule, limit: rule.limit + 1 } : rule
    ),
    "a rate limit that admits one less": withRules((rule) =>
      rule._tag === "RateLimit" ? { ...rule, limit: Math.max(1, rule.limit - 1) } : rule
    ),
    "a window that ends late": withRules((rule) =>
      rule._tag === "Dedupe" ? { ...rule, window_ms: 3 * rule.window_ms } : rule
    ),
    "a debounce that ends early": withRules((rule) =>
      rule._tag === "Debounce" ? { ...rule, period_ms: Math.floor(rule.period_ms / 2) } : rule
    ),
    "a store that ignores throttles": admitting((each) => ({
      ...each,
      delivery: Struct.omit(each.delivery, ["throttle"])
    })),
    "a throttle with a shorter period": admitting(({ delivery, ...each }) => ({
      ...each,
      delivery:
        delivery.throttle === undefined
          ? delivery
          : { ...delivery, throttle: { ...delivery.throttle, period_ms: Math.floor(delivery.throttle.period_ms / 2) } }
    })),
    "a store that forgets the ttl": admitting((each) => ({ ...each, delivery: Struct.omit(each.delivery, ["ttl_ms"]) }))
  }
  for (const [fault, store] of Object.entries(faults)) {
    it(fault, { timeout }, async () => {
      assert.isNotNull(await findFailure(1, within, store))
    })
  }
})
