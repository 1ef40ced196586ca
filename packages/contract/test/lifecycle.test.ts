/** The lifecycle of runs in memory, and stores with one fault each, which the model must detect. */
import { assert, describe, it } from "@effect/vitest"
import { checkLifecycle, lifecycleModel } from "@weft/contract"
import { AdmissionStore, BuildStore, type JournalEntry, JournalStore, RunControlStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"

/** Waits for promises. The in-memory stores have no other work outside virtual time. */
const waitReal = Effect.promise(async () => {
  for (let round = 0; round < 8; round++) await new Promise((resolve) => setImmediate(resolve))
})

lifecycleModel("memory", MemoryStores.layer, { exclusive: false, histories: 40, waitReal })

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

describe("the lifecycle model detects a store that", () => {
  for (const [fault, stores] of Object.entries({
    "loses retries": changing((entry) => (entry._tag === "Settled" ? { ...entry, next: null } : entry)),
    "retries too early": changing((entry) =>
      entry._tag === "Settled" && entry.next !== null && entry.run.stop_time !== null
        ? { ...entry, next: { ...entry.next, due_at: entry.run.stop_time } }
        : entry
    ),
    "settles without a fence": changing((entry) =>
      entry._tag === "Settled" && entry.next === null ? { _tag: "Ended", run: entry.run, logs: entry.logs } : entry
    ),
    "ignores groups": changing((entry) =>
      entry._tag === "Settled"
        ? entry
        : entry._tag === "Appended"
          ? {
              ...entry,
              deliveries: entry.deliveries.map((one) => ({ ...one, delivery: { ...one.delivery, group: null } }))
            }
          : entry
    ),
    "unparks nothing": faulty(JournalStore, (store) => ({
      unpark: () => Effect.succeed(0),
      claim: (request) => store.claim({ ...request, freed: [] })
    })),
    "never reaps": faulty(JournalStore, () => ({ reap: () => Effect.succeed([]) })),
    "ignores Idempotency-Keys": faulty(AdmissionStore, (store) => ({
      admit: (admission) => store.admit({ ...admission, request: null }),
      earlier: () => Effect.succeed(null)
    })),
    "ignores the idempotency of handlers": faulty(AdmissionStore, (store) => ({
      admit: (admission) =>
        store.admit({ ...admission, deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null })) })
    })),
    "returns no cancelled runs": faulty(RunControlStore, (store) => ({
      cancel: (envId, which, at, limit) => Effect.as(store.cancel(envId, which, at, limit), [])
    })),
    "keeps serving the deployed build": faulty(BuildStore, (store) => ({
      goLive: (build) => store.insert(build)
    })),
    "replays nothing": faulty(RunControlStore, () => ({ redeliver: () => Effect.void }))
  })) {
    it(fault, { timeout: 120_000 }, async () => {
      const outcome = await checkLifecycle(stores, { exclusive: false, histories: 150, waitReal, seed: 7 }).then(
        () => "no failure",
        (error: unknown) => String(error)
      )
      assert.include(outcome, "Counterexample")
    })
  }
})
