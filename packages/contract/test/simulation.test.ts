/**
 * Whole clusters in virtual time, with everything that can go wrong, a seed each; that the same seed brings back the same
 * history; and that faults which somebody could make are found.
 */
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
} from "@weft/core"
import { Context, Effect } from "effect"
import { type Alter, play, type SimulationOptions, scenarioOf } from "../src/simulation/index.ts"

const timeout = 120_000

/** The first seed that goes wrong, with what did; null when none does. */
const firstWrong = async (first: number, count: number, options: SimulationOptions = {}): Promise<string | null> => {
  for (let seed = first; seed < first + count; seed++) {
    const { violations } = await play(scenarioOf(seed), options)
    if (violations.length > 0) return `seed ${seed}: ${violations[0]}`
  }
  return null
}

describe("a cluster in which everything goes wrong", () => {
  for (const first of [1, 21, 41]) {
    it(`keeps what it promised, seeds ${first} to ${first + 19}`, { timeout }, async () => {
      assert.isNull(await firstWrong(first, 20))
    })
  }

  for (const [seed, found] of Object.entries({
    102: "a node that stopped soon after the store had answered again told nobody of what was stored meanwhile",
    143: "what reached the store long after it was given up was told to nobody",
    40097: "nodes to which it was lost that another one wants to hear of what happens told it nothing of that for long",
    30115: "an event that a slow store kept waiting before it was stored was told to nobody",
    102070: "what may have been stored was told to nobody where nothing was written any more",
    100357: "a tick whose schedule was long in coming was told to nobody where its answer was lost",
    100218: "what a node stored that stopped before it knew of it was told to nobody",
    102509: "who came back after a stop missed what had waited long before it was stored",
    301553: "who came back to another node missed what that one had stored slowly",
    300634: "nobody knew that the last that a node said had been lost",
    500998:
      "a node that began while another one heard nothing never learned that that one wants to hear of what happens",
    801209: "a node that asked, back from being away, who wants to hear of what happens took its silence before as told"
  })) {
    it(`seed ${seed}: ${found}`, { timeout }, async () => {
      assert.isNull(await firstWrong(Number(seed), 1))
    })
  }

  it("is found out where it turns in a circle, and comes to no rest", async () => {
    const { violations } = await play(scenarioOf(7), { turnsMax: 1_000 })
    assert.deepStrictEqual(violations, ["the world does not turn in a circle"])
  })

  it("does the same again for the same seed, step for step, and something else for another", { timeout }, async () => {
    const one = await play(scenarioOf(7), { keepsTrace: true })
    const again = await play(scenarioOf(7), { keepsTrace: true })
    const other = await play(scenarioOf(8))
    assert.deepStrictEqual(again, one)
    assert.isAbove(one.trace.length, 100)
    assert.notStrictEqual(other.hash, one.hash)
  })
})

const altered =
  <I extends Stores, S extends object>(service: Context.Key<I, S>, change: (store: S) => Partial<S>): Alter =>
  (stores) => {
    const store = Context.get(stores, service)
    return Context.add(stores, service, { ...store, ...change(store) })
  }

const settling = (change: (entry: Extract<JournalEntry, { _tag: "Settled" }>) => JournalEntry): SimulationOptions => ({
  store: altered(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => (entry._tag === "Settled" ? change(entry) : entry)),
        lease
      )
  }))
})

const ungrouped = (delivery: Delivery): Delivery => ({ ...delivery, group: null })

/** How many seeds may go by before a fault is found. */
const within = 40

describe("a simulation finds", () => {
  const faults: Record<string, SimulationOptions> = {
    "a store that says that everything counted": {
      store: altered(JournalStore, (store) => ({
        commit: (entries, lease) => Effect.map(store.commit(entries, lease), (counted) => counted.map(() => true))
      }))
    },
    "a store that forgets the next attempt": settling((entry) => ({ ...entry, next: null })),
    "a store that settles and lets nobody go": settling((entry) => ({
      _tag: "Ended",
      run: entry.run,
      logs: entry.logs
    })),
    "an answer before the commit": {
      node: altered(JournalStore, (store) => ({
        commit: (entries, lease) =>
          Effect.as(
            Effect.forkDetach(store.commit(entries, lease)),
            entries.map(() => true)
          )
      }))
    },
    "a node that counts a lost run as an attempt": {
      node: altered(JournalStore, (store) => ({
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
    "a store that knows no groups": {
      store: (stores) =>
        altered(AdmissionStore, (store) => ({
          admit: (admission) =>
            store.admit({
              ...admission,
              deliveries: admission.deliveries.map((one) => ({ ...one, delivery: ungrouped(one.delivery) }))
            })
        }))(
          altered(JournalStore, (store) => ({
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
    "a store that lets nobody of a group in": {
      store: altered(JournalStore, (store) => ({
        unpark: () => Effect.succeed(0),
        claim: (request) => store.claim({ ...request, freed: [] })
      }))
    },
    "a store that takes the living for dead": {
      store: altered(JournalStore, (store) => ({
        reap: (nodeId, now, limit, own) => store.reap(nodeId, Timestamp.make(now + 40_000), limit, own),
        look: (nodeId, now) => store.look(nodeId, Timestamp.make(now + 40_000))
      }))
    },
    "a node that does not ask what became of a claim without an answer": {
      node: altered(JournalStore, (store) => ({ reap: (nodeId, now, limit) => store.reap(nodeId, now, limit) }))
    },
    "a store that forgets requests that have names": {
      store: altered(AdmissionStore, (store) => ({
        admit: (admission) => store.admit({ ...admission, request: null }),
        earlier: () => Effect.succeed(null)
      }))
    },
    "a store that handles again what is handled once": {
      store: altered(AdmissionStore, (store) => ({
        admit: (admission) =>
          store.admit({ ...admission, deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null })) })
      }))
    },
    "a store that lets a tick come twice": {
      store: altered(TickStore, (store) => ({
        fire: (ticks) => store.fire(ticks.map((tick) => ({ ...tick, next: tick.schedule })))
      }))
    },
    "a store that cancels and does not say so": {
      store: altered(RunControlStore, (store) => ({
        cancel: (envId, which, at, limit) => Effect.as(store.cancel(envId, which, at, limit), [])
      }))
    }
  }
  for (const [fault, options] of Object.entries(faults)) {
    it(fault, { timeout }, async () => {
      assert.isNotNull(await firstWrong(1, within, options))
    })
  }
})
