/** The model agrees with itself, and with no store that has a fault: so the comparison compares. */
import { assert, describe, it } from "@effect/vitest"
import { agreesWithMemory, journalStoreModel } from "@weft/contract"
import { type JournalEntry, JournalStore, MemoryStores } from "@weft/core"
import { Context, Effect, Layer } from "effect"

const { database } = MemoryStores

/** Faults are looked for in the same histories every time: rare ones would be passed over now and then. */
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

describe("JournalStore model notices a store that", () => {
  for (const [fault, layer] of Object.entries({
    "applies entries in reverse": faulty((store) => ({
      commit: (entries, lease) =>
        Effect.map(store.commit(entries.toReversed(), lease), (counted) => counted.toReversed())
    })),
    "settles without a fence": changing((entry) =>
      entry._tag === "Settled" ? { _tag: "Ended", run: entry.run, logs: entry.logs } : entry
    ),
    "forgets retries": changing((entry) => (entry._tag === "Settled" ? { ...entry, next: null } : entry)),
    "forgets logs": changing((entry) => ("logs" in entry ? { ...entry, logs: [] } : entry)),
    "claims nothing that waits": faulty(() => ({
      claim: () => Effect.succeed({ claims: [], parked: 0, unparked: 0, next_due_at: null })
    })),
    "lets nothing in": faulty(() => ({ unpark: () => Effect.succeed(0) })),
    "lets nothing in with a claim": faulty((store) => ({
      claim: (request) => store.claim({ ...request, freed: [] })
    })),
    "knows no groups": changing((entry) =>
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
      const outcome = await agreesWithMemory(layer, { exclusive: false, histories: 200 }, seed).then(
        () => "agreed",
        (error: unknown) => String(error)
      )
      assert.include(outcome, "Counterexample")
    })
  }
})
