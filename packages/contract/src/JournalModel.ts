/**
 * Model of `JournalStore`: after a random history, a store must have returned and stored the same as the in-memory store.
 *
 * A store may choose which run of a claim takes which delivery. So results are compared by delivery, and each store
 * settles its own run.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  type DeliveryId,
  EventStore,
  type Group,
  type JournalEntry,
  JournalStore,
  monthOf,
  type Run,
  type RunStatus,
  RunStore,
  TenantStore,
  type Timestamp,
  UsageStore
} from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"
import * as fc from "fast-check"
import type { JournalStores } from "./Claims.ts"
import type { JournalStoreOptions } from "./JournalStoreContract.ts"
import {
  at,
  delivery,
  deliveryId,
  ended,
  envId,
  env as envOf,
  event,
  everything,
  logLine,
  nodeId,
  org,
  orgId,
  run,
  runHolding,
  runId,
  runIds
} from "./Samples.ts"

const envs = [1, 2, 3]
const groups = ["a", "b"]
const nodes = [1, 2, 3]

type Step =
  | {
      readonly _tag: "Publish"
      readonly env: number
      readonly deliveries: ReadonlyArray<{
        /** The node that claims it on insert, if any. */
        readonly holder: number | null
        readonly group: { readonly key: string; readonly limit: number } | null
      }>
      readonly due: number
    }
  | { readonly _tag: "PublishAgain"; readonly pick: number }
  | { readonly _tag: "Start"; readonly env: number; readonly node: number }
  | { readonly _tag: "End"; readonly pick: number; readonly started: boolean; readonly status: RunStatus }
  | { readonly _tag: "Settle"; readonly pick: number; readonly retryIn: number | null; readonly status: RunStatus }

type Command =
  | { readonly _tag: "Commit"; readonly steps: ReadonlyArray<Step>; readonly lease: readonly [number, number] | null }
  | { readonly _tag: "ClaimAll"; readonly node: number; readonly now: number; readonly freed: boolean }
  | {
      readonly _tag: "ClaimSome"
      readonly env: number
      readonly node: number
      readonly now: number
      readonly limit: number
    }
  | { readonly _tag: "Unpark"; readonly now: number }
  | { readonly _tag: "Reap"; readonly node: number; readonly now: number }
  | { readonly _tag: "Purge"; readonly env: number; readonly before: number; readonly limit: number }

const allGroups: ReadonlyArray<Group> = envs.flatMap((n) => groups.map((of) => ({ env_id: envId(n), key: of })))

const time = fc.nat({ max: 1000 })
const env = fc.constantFrom(...envs)
const node = fc.constantFrom(...nodes)
const pick = fc.nat({ max: 1000 })
const key = fc.constantFrom(...groups)
const status = fc.constantFrom<RunStatus>("succeeded", "failed", "cancelled")

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("Publish" as const),
      env,
      deliveries: fc.array(
        fc.record({
          holder: fc.option(node, { freq: 1 }),
          group: fc.option(fc.record({ key, limit: fc.integer({ min: 1, max: 3 }) }))
        }),
        { maxLength: 3 }
      ),
      due: time
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("PublishAgain" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Start" as const), env, node }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("End" as const), pick, started: fc.boolean(), status }) },
  { weight: 5, arbitrary: fc.record({ _tag: fc.constant("Settle" as const), pick, retryIn: fc.option(time), status }) }
)

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      _tag: fc.constant("Commit" as const),
      steps: fc.array(step, { maxLength: 8 }),
      lease: fc.option(fc.tuple(node, time))
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ _tag: fc.constant("ClaimAll" as const), node, now: time, freed: fc.boolean() })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant("ClaimSome" as const),
      env,
      node,
      now: time,
      limit: fc.integer({ min: 1, max: 4 })
    })
  },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Unpark" as const), now: time }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Reap" as const), node, now: time }) },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("Purge" as const),
      env,
      before: fc.nat({ max: 200 }),
      limit: fc.integer({ min: 1, max: 10 })
    })
  }
)

/** `histories` is the number of random histories. */
export interface JournalModelOptions extends JournalStoreOptions {
  readonly histories: number
}

export const journalStoreModel = <E>(
  adapter: string,
  layer: Layer.Layer<JournalStores, E>,
  options: JournalModelOptions
): void => {
  describe(`JournalStore model: ${adapter}`, () => {
    it(`agrees with memory on ${options.histories} random histories`, { timeout: 120_000 }, () =>
      compareWithMemory(layer, options)
    )
  })
}

/** Rejects with the seed and the shortest history for which the store differs from the in-memory store. */
export const compareWithMemory = <E>(
  layer: Layer.Layer<JournalStores, E>,
  { exclusive, histories }: JournalModelOptions,
  seed?: number
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), (commands) =>
      Effect.runPromise(Effect.scoped(compare(commands, layer, exclusive)))
    ),
    { numRuns: histories, ...(seed === undefined ? {} : { seed }) }
  )

const compare = <E>(commands: ReadonlyArray<Command>, layer: Layer.Layer<JournalStores, E>, exclusive: boolean) =>
  Effect.gen(function* () {
    const model = new Subject(yield* Layer.build(Layer.fresh(MemoryStores.database)))
    const subject = new Subject(yield* Layer.build(Layer.fresh(layer)))
    for (const one of [model, subject]) yield* one.begin
    for (const [index, next] of commands.entries()) {
      // A store for a single node ignores leases, so the model must consider them expired.
      if (exclusive && next._tag === "Reap") yield* model.endLeases(nodes)
      const expected = yield* model.apply(next)
      const actual = yield* subject.apply(next)
      assert.deepStrictEqual(actual, expected, `result of command ${index}, ${next._tag}`)
      assert.deepStrictEqual(yield* subject.contents(), yield* model.contents(), `contents after command ${index}`)
    }
    const last: Command = { _tag: "ClaimAll", node: 1, now: 1_000_000, freed: true }
    assert.deepStrictEqual(yield* subject.apply(last), yield* model.apply(last), "deliveries pending at the end")
  })

/** A run with the delivery that it holds or held. */
interface HeldDelivery {
  readonly id: DeliveryId
  readonly run: Run
}

/** One of the two stores, with the state of its caller. The same commands give both the same state. */
class Subject {
  readonly #stores: Context.Context<JournalStores>
  readonly #published: Array<Extract<JournalEntry, { _tag: "Appended" }>> = []
  readonly #held: Array<HeldDelivery> = []
  readonly #runs: Array<Run> = []
  #last = 0

  constructor(stores: Context.Context<JournalStores>) {
    this.#stores = stores
  }

  /** Creates the tenants. The first two environments belong to one organization. */
  get begin() {
    const tenants = Context.get(this.#stores, TenantStore)
    return Effect.gen(function* () {
      for (const n of [1, 2]) yield* tenants.insertOrg(org(n))
      for (const n of envs) yield* tenants.insertEnv(envOf(n, { org_id: orgId(n < 3 ? 1 : 2) }))
    })
  }

  /** Runs the command. Returns the store's result without the parts that it may choose. */
  apply(next: Command) {
    const journal = Context.get(this.#stores, JournalStore)
    switch (next._tag) {
      case "Commit": {
        const lease = next.lease === null ? null : { node_id: nodeId(next.lease[0]), until: at(next.lease[1]) }
        return journal.commit(
          next.steps.flatMap((one) => this.#entry(one)),
          lease
        )
      }
      case "ClaimAll":
        return this.#claim(next.node, at(next.now), 1000, [], next.freed ? allGroups : [])
      case "ClaimSome":
        return this.#claim(
          next.node,
          at(next.now),
          next.limit,
          envs.filter((other) => other !== next.env),
          []
        )
      case "Unpark":
        return journal.unpark(allGroups, at(next.now))
      case "Reap":
        return Effect.map(journal.reap(nodeId(next.node), at(next.now), 1000), (lost) => lost.map(withoutIds).sort())
      case "Purge":
        // The id is below those of claims, because a store may choose which run takes which delivery.
        return journal.purge(envId(next.env), runId(next.before), next.limit)
    }
  }

  endLeases(of: ReadonlyArray<number>) {
    const journal = Context.get(this.#stores, JournalStore)
    return Effect.forEach(of, (n) => journal.commit([], { node_id: nodeId(n), until: at(-1) }))
  }

  /** Returns all contents of the store, without the parts that it may choose. */
  contents() {
    const runs = Context.get(this.#stores, RunStore)
    const events = Context.get(this.#stores, EventStore)
    const usage = Context.get(this.#stores, UsageStore)
    const perOrg = Effect.forEach([1, 2], (n) => usage.runs(orgId(n), monthOf(at(0))))
    const perEnv = Effect.forEach(envs, (n) =>
      Effect.gen(function* () {
        const listed = yield* runs.list(envId(n), everything, {})
        const logs = yield* Effect.forEach(listed.items, (one) =>
          Effect.map(runs.logs(envId(n), one.run_id, everything), ({ items }) => `${withoutIds(one)} ${items.length}`)
        )
        const stats = yield* runs.stats(envId(n))
        assert.strictEqual(stats.total_runs, listed.total)
        return { events: yield* events.list(envId(n), everything), total: listed.total, stats, logs: logs.sort() }
      })
    )
    const parked = JournalStore.use((journal) => journal.parked(null, 100)).pipe(Effect.provideContext(this.#stores))
    return Effect.all({ perOrg, perEnv, parked })
  }

  #claim(node: number, now: Timestamp, limit: number, exclude: ReadonlyArray<number>, freed: ReadonlyArray<Group>) {
    const ids = runIds(100_000 + this.#next() * 1000, limit)
    const request = {
      lease: { node_id: nodeId(node), until: now },
      now,
      runIds: ids,
      perEnv: 1000,
      exclude: exclude.map(envId),
      freed
    }
    return Effect.map(
      Context.get(this.#stores, JournalStore).claim(request),
      ({ claims, parked, unparked, next_due_at }) => {
        const sorted = [...claims].sort((a, b) => (a.delivery.delivery_id < b.delivery.delivery_id ? -1 : 1))
        for (const claim of sorted) this.#held.push({ id: claim.delivery.delivery_id, run: claim.run })
        return {
          claims: sorted.map((claim) => [claim.delivery.delivery_id, claim.event.event_id, withoutIds(claim.run)]),
          parked,
          unparked,
          next_due_at: next_due_at === null ? null : Math.max(next_due_at, now)
        }
      }
    )
  }

  #entry(one: Step): ReadonlyArray<JournalEntry> {
    switch (one._tag) {
      case "Publish":
        return [this.#publish(one)]
      case "PublishAgain": {
        const again = chosen(this.#published, one.pick)
        return again === undefined ? [] : [again]
      }
      case "Start": {
        const started = run(this.#next(), { env_id: envId(one.env), node_id: nodeId(one.node) })
        this.#runs.push(started)
        return [{ _tag: "Started", run: started }]
      }
      case "End": {
        const over = one.started ? chosen(this.#runs, one.pick) : run(this.#next())
        if (over === undefined) return []
        return [{ _tag: "Ended", run: ended(over, { status: one.status }), logs: [logLine(0)] }]
      }
      case "Settle": {
        const held = chosen(this.#held, one.pick)
        if (held === undefined) return []
        const { id, run: over } = held
        const retry = { attempt: over.attempt + 1, due_at: at((one.retryIn ?? 0) * 10), first_run_id: over.run_id }
        const settled = ended(over, { status: one.status })
        const next = one.retryIn === null ? null : retry
        return [{ _tag: "Settled", run: settled, logs: [logLine(0), logLine(1)], deliveryId: id, next }]
      }
    }
  }

  #publish({ env: n, deliveries: wanted, due }: Extract<Step, { _tag: "Publish" }>): JournalEntry {
    const published = event(this.#next(), { env_id: envId(n), created_at: at(due) })
    const deliveries = wanted.map(({ holder, group }) => {
      const number = this.#next()
      const intent = delivery(number, published, { delivery_id: deliveryId(number), group })
      const holding = holder === null ? null : runHolding(number, intent, { node_id: nodeId(holder) })
      if (holding !== null) this.#held.push({ id: intent.delivery_id, run: holding })
      return { delivery: intent, run: holding }
    })
    const entry = { _tag: "Appended", event: published, deliveries } as const
    this.#published.push(entry)
    return entry
  }

  #next(): number {
    return ++this.#last
  }
}

const chosen = <A>(from: ReadonlyArray<A>, pick: number): A | undefined => from[pick % Math.max(1, from.length)]

/** Returns a run as text, without its id and its origin's. */
const withoutIds = ({ run_id, origin_run_id, ...fields }: Run): string =>
  JSON.stringify(fields, Object.keys(fields).sort())
