/** Durable functions on clusters in virtual time, one per seed, and planted faults, which must be found. */
import { assert, describe, it } from "@effect/vitest"
import {
  type DeliveryId,
  type JournalEntry,
  JournalStore,
  type Stores,
  Timestamp,
  WorkflowStore
} from "@weft/core/adapter"
import { Context, Effect } from "effect"
import { type Alter, drawWorkflowScenario, runScenario, type SimulationOptions } from "../src/simulation/index.ts"

const timeout = 120_000

/** Returns the first failing seed with its first broken rule, or null if all hold. */
const findFailure = async (first: number, count: number, options: SimulationOptions = {}): Promise<string | null> => {
  for (let seed = first; seed < first + count; seed++) {
    const { violations } = await runScenario(drawWorkflowScenario(seed), options)
    if (violations.length > 0) return `seed ${seed}: ${violations[0]}`
  }
  return null
}

const alter =
  <I extends Stores, S extends object>(service: Context.Key<I, S>, change: (store: S) => Partial<S>): Alter =>
  (stores) => {
    const store = Context.get(stores, service)
    return Context.add(stores, service, { ...store, ...change(store) })
  }

type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

/** A store that changes the progress that nodes write. */
const advancing = (change: (entry: Advanced) => JournalEntry): Alter =>
  alter(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => (entry._tag === "Advanced" ? change(entry) : entry)),
        lease
      )
  }))

/** A store that changes the histories that nodes read. */
const loading = (change: (loaded: Loaded) => Loaded): Alter =>
  alter(WorkflowStore, (store) => ({
    load: (run) => Effect.map(store.load(run), change),
    loadSmall: (...runs) =>
      Effect.map(store.loadSmall(...runs), (loaded) => new Map([...loaded].map(([id, run]) => [id, change(run)])))
  }))

type Loaded = Effect.Success<ReturnType<WorkflowStore["Service"]["load"]>>

/** Maximum seeds until a fault is found. */
const within = 150

describe("A cluster with durable functions and faults", () => {
  for (const first of [1, 21]) {
    it(`keeps every guarantee with seeds ${first} to ${first + 19}`, { timeout }, async () => {
      assert.isNull(await findFailure(first, 20))
    })
  }
})

describe("A simulation with durable functions finds", () => {
  const faults: Record<string, SimulationOptions> = {
    "a store that loses a result": { store: advancing((entry) => ({ ...entry, steps: entry.steps.slice(1) })) },
    "a store that changes a result": {
      store: loading(({ history, ...run }) => ({
        ...run,
        history: { ...history, steps: history.steps.map((step) => ({ ...step, attempts: step.attempts + 1 })) }
      }))
    },
    "a node that does not read its history": {
      node: loading(({ history, ...run }) => ({ ...run, history: { ...history, steps: [] } }))
    },
    "a response before the commit": {
      node: alter(JournalStore, (store) => ({
        commit: (entries, lease) =>
          Effect.as(
            Effect.forkDetach(store.commit(entries, lease)),
            entries.map(() => true)
          )
      }))
    },
    "a node that ends waits early": {
      node: loading(({ history, ...run }) => ({
        ...run,
        history: { ...history, waits: history.waits.map((wait) => ({ ...wait, until: Timestamp.make(0) })) }
      }))
    },
    "a node that suspends runs for too long": {
      node: advancing((entry) => {
        const { suspension } = entry
        return suspension === null
          ? entry
          : { ...entry, suspension: { ...suspension, due_at: Timestamp.make(suspension.due_at + 60_000) } }
      })
    },
    "a store that never gives an event to a wait": {
      store: alter(WorkflowStore, () => ({ arrive: () => Effect.succeed([]) }))
    },
    "a store whose waits take events without a look at their data": {
      store: advancing((entry) => ({ ...entry, waits: entry.waits.map((wait) => ({ ...wait, match: null })) }))
    },
    "a store that lets an earlier activation write": {
      store: (stores) => {
        const current = new Map<string, DeliveryId>()
        return alter(JournalStore, (store) => ({
          // Nodes continue runs that they execute, so that there are earlier activations.
          reap: (nodeId, now, limit, own) => store.reap(nodeId, now, limit, own && { ...own, known: [] }),
          claim: (request) =>
            Effect.tap(store.claim(request), ({ claims }) =>
              Effect.sync(() => {
                for (const { run, delivery } of claims) current.set(run.run_id, delivery.delivery_id)
              })
            ),
          commit: (entries, lease) =>
            store.commit(
              entries.map((entry) =>
                entry._tag === "Advanced"
                  ? { ...entry, deliveryId: current.get(entry.run.run_id) ?? entry.deliveryId }
                  : entry
              ),
              lease
            )
        }))(stores)
      }
    },
    "a store that keeps the results of removed runs": {
      store: alter(JournalStore, () => ({ purge: () => Effect.succeed(0) }))
    }
  }
  for (const [fault, options] of Object.entries(faults)) {
    it(fault, { timeout }, async () => {
      assert.isNotNull(await findFailure(1, within, options))
    })
  }
})
