/** The model of the journal passes the in-memory store, and must detect stores with a fault. */
import { assert, describe, it } from "@effect/vitest"
import { compareWithMemory, journalStoreModel } from "@weft/contract"
import { type JournalEntry, JournalStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"

const { database } = MemoryStores

/** Fixed, so that rare faults are not missed by chance. */
const seed = 1

journalStoreModel("memory", database, { exclusive: false, histories: 100 })

const faulty = (change: (store: JournalStore["Service"]) => Partial<JournalStore["Service"]>) =>
  Layer.effectContext(
    Effect.map(Layer.build(Layer.fresh(database)), (context) => {
      const store = Context.get(context, JournalStore)
      return Context.add(context, JournalStore, { ...store, ...change(store) })
    })
  )

const changing = (change: (entry: JournalEntry) => JournalEntry) =>
  faulty((store) => ({ commit: (entries, lease) => store.commit(entries.map(change), lease) }))

describe("JournalStore model detects a store that", () => {
  for (const [fault, layer] of Object.entries({
    "applies entries in reverse": faulty((store) => ({
      commit: (entries, lease) =>
        Effect.map(store.commit(entries.toReversed(), lease), (counted) => counted.toReversed())
    })),
    "settles without a fence": changing((entry) =>
      entry._tag === "Settled" ? { _tag: "Ended", run: entry.run, logs: entry.logs } : entry
    ),
    "loses retries": changing((entry) => (entry._tag === "Settled" ? { ...entry, next: null } : entry)),
    "loses logs": changing((entry) => ("logs" in entry ? { ...entry, logs: [] } : entry)),
    "claims no pending deliveries": faulty(() => ({
      claim: () => Effect.succeed({ claims: [], parked: 0, unparked: 0, next_due_at: null })
    })),
    "unparks nothing": faulty(() => ({ unpark: () => Effect.succeed(0) })),
    "unparks nothing with a claim": faulty((store) => ({
      claim: (request) => store.claim({ ...request, freed: [] })
    })),
    "ignores groups": changing((entry) =>
      entry._tag === "Appended"
        ? {
            ...entry,
            deliveries: entry.deliveries.map((one) => ({ ...one, delivery: { ...one.delivery, group: null } }))
          }
        : entry
    ),
    "never reaps": faulty(() => ({ reap: () => Effect.succeed([]) }))
  })) {
    it(fault, async () => {
      const outcome = await compareWithMemory(layer, { exclusive: false, histories: 200 }, seed).then(
        () => "agreed",
        (error: unknown) => String(error)
      )
      assert.include(outcome, "Counterexample")
    })
  }
})
