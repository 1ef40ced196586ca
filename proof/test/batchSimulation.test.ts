/** Batches on clusters in virtual time, one per seed, and planted faults, which must be found. */
import { assert, describe, it } from "@effect/vitest"
import { AdmissionStore, type ClaimResult, type FlowRule, JournalStore, toJsonText } from "@weft/core/adapter"
import { Context, Effect } from "effect"
import { type Alter, drawBatchScenario, runScenario } from "../src/simulation/index.ts"

const timeout = 120_000

/** Returns the first failing seed with its first broken rule, or null if all hold. */
const findFailure = async (count: number, store?: Alter): Promise<string | null> => {
  for (let seed = 1; seed <= count; seed++) {
    const { violations } = await runScenario(drawBatchScenario(seed), store === undefined ? {} : { store })
    if (violations.length > 0) return `seed ${seed}: ${violations[0]}`
  }
  return null
}

describe("A cluster with batches and faults", () => {
  it("has each event in exactly one batch, which starts in time, with seeds 1 to 8", { timeout }, async () => {
    assert.isNull(await findFailure(8))
  })
})

/** A store whose batches have other rules. */
const withBatches =
  (change: (rule: Extract<FlowRule, { _tag: "Batch" }>) => ReadonlyArray<FlowRule>): Alter =>
  (stores) => {
    const store = Context.get(stores, AdmissionStore)
    return Context.add(stores, AdmissionStore, {
      ...store,
      admit: (admission) =>
        store.admit({
          ...admission,
          deliveries: admission.deliveries.map(({ rules, ...each }) => ({
            ...each,
            rules: rules.flatMap((rule) => (rule._tag === "Batch" ? change(rule) : [rule]))
          }))
        })
    })
  }

/** A store that changes the claims. */
const claiming =
  (change: (claims: ClaimResult["claims"]) => ClaimResult["claims"]): Alter =>
  (stores) => {
    const store = Context.get(stores, JournalStore)
    return Context.add(stores, JournalStore, {
      ...store,
      claim: (request) => Effect.map(store.claim(request), (result) => ({ ...result, claims: change(result.claims) }))
    })
  }

describe("A simulation finds", () => {
  const faults: Record<string, Alter> = {
    "a store that ignores batches": withBatches(() => []),
    "a batch with one event too many": withBatches((rule) => [{ ...rule, size: rule.size + 1 }]),
    "a batch that starts early": withBatches((rule) => [{ ...rule, timeout_ms: Math.floor(rule.timeout_ms / 2) }]),
    "batches of all keys together": withBatches((rule) => [{ ...rule, key: "all" }]),
    "a claim that loses the last event of a batch": claiming((claims) =>
      claims.map((claim) => {
        const events = claim.events?.slice(0, Math.max(1, claim.events.length - 1))
        return events === undefined
          ? claim
          : { ...claim, events, run: { ...claim.run, event_ids: toJsonText(events.map(({ event_id }) => event_id)) } }
      })
    )
  }
  for (const [fault, store] of Object.entries(faults)) {
    it(fault, { timeout }, async () => {
      assert.isNotNull(await findFailure(15, store))
    })
  }
})
