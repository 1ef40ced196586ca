/** Clusters in virtual time with faults, one per seed; determinism of a seed; and planted faults, which must be found. */
import { assert, describe, it } from "@effect/vitest"
import {
  AdmissionStore,
  type Delivery,
  type JournalEntry,
  JournalStore,
  RunControlStore,
  type Stores,
  TickStore,
  Timestamp
} from "@weft/core/adapter"
import { Context, Effect } from "effect"
import { type Alter, drawScenario, runScenario, type SimulationOptions } from "../src/simulation/index.ts"

const timeout = 120_000

/** Returns the first failing seed with its first broken rule, or null if all hold. */
const findFailure = async (first: number, count: number, options: SimulationOptions = {}): Promise<string | null> => {
  for (let seed = first; seed < first + count; seed++) {
    const { violations } = await runScenario(drawScenario(seed), options)
    if (violations.length > 0) return `seed ${seed}: ${violations[0]}`
  }
  return null
}

describe("A cluster with faults", () => {
  for (const first of [1, 21, 41]) {
    it(`keeps every guarantee with seeds ${first} to ${first + 19}`, { timeout }, async () => {
      assert.isNull(await findFailure(first, 20))
    })
  }

  for (const [seed, past] of Object.entries({
    102: "a node that stopped soon after an outage of the store broadcast nothing of what was stored meanwhile",
    143: "writes that reached the store long after their timeout were not broadcast",
    40097: "nodes that missed the interest of another node did not send it activity for a long time",
    30115: "an event that a slow store delayed was not broadcast",
    102070: "uncertain writes were not broadcast if no further write followed",
    100357: "a tick of a slow schedule was not broadcast if its response was lost",
    100218: "a node that stopped before the response of its write did not broadcast the write",
    102509: "a subscriber that reconnected after a stop missed writes that had been queued for long",
    301553: "a subscriber that reconnected to another node missed slow writes of that node",
    300634: "no node detected the loss of the last message of a node",
    500998: "a node that started during the outage of another never learned of its interest",
    801209:
      "a node that requested interest after an outage assumed that others had received its activity during the outage"
  })) {
    it(`does not repeat the fault of seed ${seed}: ${past}`, { timeout }, async () => {
      assert.isNull(await findFailure(Number(seed), 1))
    })
  }

  it("reports an endless loop", async () => {
    const { violations } = await runScenario(drawScenario(7), { turnsMax: 1_000 })
    assert.deepStrictEqual(violations, ["the simulation ends within its maximum of turns"])
  })

  it("has the same history for the same seed, step for step, and another one for another seed", {
    timeout
  }, async () => {
    const one = await runScenario(drawScenario(7), { recordsTrace: true })
    const again = await runScenario(drawScenario(7), { recordsTrace: true })
    const other = await runScenario(drawScenario(8))
    assert.deepStrictEqual(again, one)
    assert.isAbove(one.trace.length, 100)
    assert.notStrictEqual(other.hash, one.hash)
  })
})

const alter =
  <I extends Stores, S extends object>(service: Context.Key<I, S>, change: (store: S) => Partial<S>): Alter =>
  (stores) => {
    const store = Context.get(stores, service)
    return Context.add(stores, service, { ...store, ...change(store) })
  }

const settling = (change: (entry: Extract<JournalEntry, { _tag: "Settled" }>) => JournalEntry): SimulationOptions => ({
  store: alter(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => (entry._tag === "Settled" ? change(entry) : entry)),
        lease
      )
  }))
})

const ungrouped = (delivery: Delivery): Delivery => ({ ...delivery, group: null })

/** Maximum seeds until a fault is found. */
const within = 40

describe("A simulation finds", () => {
  const faults: Record<string, SimulationOptions> = {
    "a store that confirms every settlement": {
      store: alter(JournalStore, (store) => ({
        commit: (entries, lease) => Effect.map(store.commit(entries, lease), (counted) => counted.map(() => true))
      }))
    },
    "a store that drops the next attempt": settling((entry) => ({ ...entry, next: null })),
    "a store that ends runs without settling their deliveries": settling((entry) => ({
      _tag: "Ended",
      run: entry.run,
      logs: entry.logs
    })),
    "a response before the commit": {
      node: alter(JournalStore, (store) => ({
        commit: (entries, lease) =>
          Effect.as(
            Effect.forkDetach(store.commit(entries, lease)),
            entries.map(() => true)
          )
      }))
    },
    "a node that counts a lost run as an attempt": {
      node: alter(JournalStore, (store) => ({
        commit: (entries, lease) =>
          store.commit(
            entries.map((entry) =>
              entry._tag === "Settled" && entry.next?.attempt === entry.run.attempt
                ? { ...entry, next: { ...entry.next, attempt: entry.next.attempt + 1 } }
                : entry
            ),
            lease
          )
      }))
    },
    "a store that ignores groups": {
      store: (stores) =>
        alter(AdmissionStore, (store) => ({
          admit: (admission) =>
            store.admit({
              ...admission,
              deliveries: admission.deliveries.map((one) => ({ ...one, delivery: ungrouped(one.delivery) }))
            })
        }))(
          alter(JournalStore, (store) => ({
            commit: (entries, lease) =>
              store.commit(
                entries.map((entry) =>
                  entry._tag === "Appended"
                    ? {
                        ...entry,
                        deliveries: entry.deliveries.map((one) => ({ ...one, delivery: ungrouped(one.delivery) }))
                      }
                    : entry
                ),
                lease
              )
          }))(stores)
        )
    },
    "a store that never unparks a group": {
      store: alter(JournalStore, (store) => ({
        unpark: () => Effect.succeed(0),
        claim: (request) => store.claim({ ...request, freed: [] })
      }))
    },
    "a store that declares live nodes dead": {
      store: alter(JournalStore, (store) => ({
        reap: (nodeId, now, limit, own) => store.reap(nodeId, Timestamp.make(now + 40_000), limit, own),
        findPendingWork: (nodeId, now) => store.findPendingWork(nodeId, Timestamp.make(now + 40_000))
      }))
    },
    "a node that does not query the outcome of a claim without a response": {
      node: alter(JournalStore, (store) => ({ reap: (nodeId, now, limit) => store.reap(nodeId, now, limit) }))
    },
    "a store that forgets idempotency keys": {
      store: alter(AdmissionStore, (store) => ({
        admit: (admission) => store.admit({ ...admission, request: null }),
        earlier: () => Effect.succeed(null)
      }))
    },
    "a store that ignores the idempotency of handlers": {
      store: alter(AdmissionStore, (store) => ({
        admit: (admission) =>
          store.admit({ ...admission, deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null })) })
      }))
    },
    "a store that fires a tick twice": {
      store: alter(TickStore, (store) => ({
        fire: (ticks) => store.fire(ticks.map((tick) => ({ ...tick, next: tick.schedule })))
      }))
    },
    "a store that does not return cancelled runs": {
      store: alter(RunControlStore, (store) => ({
        cancel: (envId, which, at, limit) => Effect.as(store.cancel(envId, which, at, limit), [])
      }))
    }
  }
  for (const [fault, options] of Object.entries(faults)) {
    it(fault, { timeout }, async () => {
      assert.isNotNull(await findFailure(1, within, options))
    })
  }
})
