/** The life of runs in memory, and that its model notices stores with a fault. */
import { assert, describe, it } from "@effect/vitest"
import { lifecycleModel, livesByRules } from "@weft/contract"
import { AdmissionStore, BuildStore, type JournalEntry, JournalStore, MemoryStores, RunControlStore } from "@weft/core"
import { Context, Effect, Layer } from "effect"

/** Nothing but promises goes on beside the clock. */
const turn = Effect.promise(async () => {
  for (let turns = 0; turns < 8; turns++) await new Promise((resolve) => setImmediate(resolve))
})

lifecycleModel("memory", MemoryStores.layer, { exclusive: false, histories: 40, turn })

type All = Layer.Success<typeof MemoryStores.layer>

const faulty = <I extends All, S extends object>(service: Context.Key<I, S>, change: (store: S) => Partial<S>) =>
  Layer.effectContext(
    Effect.map(Layer.build(Layer.fresh(MemoryStores.layer)), (context) => {
      const store = Context.get(context, service)
      return Context.add(context, service, { ...store, ...change(store) })
    })
  )

const changing = (change: (entry: JournalEntry) => JournalEntry) =>
  faulty(JournalStore, (store) => ({ commit: (entries, lease) => store.commit(entries.map(change), lease) }))

describe("the model of the life of runs notices a store that", () => {
  for (const [fault, stores] of Object.entries({
    "forgets retries": changing((entry) => (entry._tag === "Settled" ? { ...entry, next: null } : entry)),
    "tries again too soon": changing((entry) =>
      entry._tag === "Settled" && entry.next !== null && entry.run.stop_time !== null
        ? { ...entry, next: { ...entry.next, due_at: entry.run.stop_time } }
        : entry
    ),
    "settles without a fence": changing((entry) =>
      entry._tag === "Settled" && entry.next === null ? { _tag: "Ended", run: entry.run, logs: entry.logs } : entry
    ),
    "knows no groups": changing((entry) =>
      entry._tag === "Settled"
        ? entry
        : entry._tag === "Appended"
          ? {
              ...entry,
              deliveries: entry.deliveries.map((one) => ({ ...one, delivery: { ...one.delivery, group: null } }))
            }
          : entry
    ),
    "lets nothing in": faulty(JournalStore, (store) => ({
      unpark: () => Effect.succeed(0),
      claim: (request) => store.claim({ ...request, freed: [] })
    })),
    "never reaps": faulty(JournalStore, () => ({ reap: () => Effect.succeed([]) })),
    "forgets what was published once": faulty(AdmissionStore, (store) => ({
      admit: (admission) => store.admit({ ...admission, request: null }),
      earlier: () => Effect.succeed(null)
    })),
    "handles again what is handled once": faulty(AdmissionStore, (store) => ({
      admit: (admission) =>
        store.admit({ ...admission, deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null })) })
    })),
    "cancels and does not say so": faulty(RunControlStore, (store) => ({
      cancel: (envId, which, at, limit) => Effect.as(store.cancel(envId, which, at, limit), [])
    })),
    "lets the deployed build go on serving": faulty(BuildStore, (store) => ({
      goLive: (build) => store.insert(build)
    })),
    "replays nothing": faulty(RunControlStore, () => ({ redeliver: () => Effect.void }))
  })) {
    it(fault, { timeout: 120_000 }, async () => {
      const outcome = await livesByRules(stores, { exclusive: false, histories: 150, turn, seed: 7 }).then(
        () => "all went well",
        (error: unknown) => String(error)
      )
      assert.include(outcome, "Counterexample")
    })
  }
})
