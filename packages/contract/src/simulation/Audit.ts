/** What is stored when all has come to rest, and what nodes still hold: held against what the store was seen to do. */
import {
  type EnvId,
  type Event,
  EventStore,
  type Run,
  RunStore,
  type Stores,
  TenantStore,
  Timestamp,
  UsageStore
} from "@weft/core"
import { type Context, Effect } from "effect"
import { functionName } from "./Guest.ts"
import type { Rules } from "./Scenario.ts"
import { nameOf, type Truth } from "./Truth.ts"

export interface Audited {
  readonly stores: Context.Context<Stores>
  readonly truth: Truth
  readonly envId: EnvId
  readonly rules: ReadonlyArray<Rules>
}

export const audit = ({ stores, truth, envId, rules }: Audited): void => {
  const { runs, events, stats, waiting, usage } = Effect.runSync(
    Effect.orDie(Effect.provideContext(read(envId), stores))
  )
  sameRuns(truth, runs)
  truth.must(events.length === truth.events.size, `${truth.events.size} events are stored, not ${events.length}`)
  for (const event of events) truth.must(truth.events.has(event.event_id), `event ${event.event_id} was published`)
  truth.must(waiting === 0, `nothing waits in the store, not ${waiting} deliveries`)
  const count = (status: Run["status"]) => runs.filter((run) => run.status === status).length
  truth.must(
    stats.total_runs === runs.length &&
      stats.succeeded === count("succeeded") &&
      stats.running === 0 &&
      stats.failed === count("failed") &&
      stats.cancelled === count("cancelled"),
    `runs are counted as they are, not as ${JSON.stringify(stats)}`
  )
  truth.must(
    usage.call_count === runs.length,
    `${runs.length} runs are counted for the organization, not ${usage.call_count}`
  )
  complete(truth, events, rules)
}

const sameRuns = (truth: Truth, runs: ReadonlyArray<Run>): void => {
  truth.must(runs.length === truth.runs.size, `${truth.runs.size} runs are stored, not ${runs.length}`)
  for (const run of runs) {
    const known = truth.runs.get(run.run_id)
    truth.must(
      known?.status === run.status,
      `${nameOf(run)} is stored as ${known?.status}, as it ended, not ${run.status}`
    )
    truth.must(known?.result === run.result, `${nameOf(run)} is stored with the result that it had`)
  }
}

/** Every event has a delivery for each function that handles it, but where another event of the same key came first. */
const complete = (truth: Truth, events: ReadonlyArray<Event>, rules: ReadonlyArray<Rules>): void => {
  const deliveries = Map.groupBy(truth.deliveries.values(), ({ delivery }) => delivery.event_id)
  for (const event of events) {
    const found = (deliveries.get(event.event_id) ?? []).map(({ delivery }) => delivery.var)
    for (const [index, { once }] of rules.entries()) {
      const isHandled = event.event_type === "job:all" || event.event_type === `job:${index}`
      const count = found.filter((name) => name === functionName(index)).length
      if (isHandled && !once) truth.must(count === 1, `event ${event.event_id} has one delivery, not ${count}`)
      else if (isHandled) truth.must(count <= 1, `event ${event.event_id} has at most one delivery, not ${count}`)
    }
  }
  for (const held of truth.deliveries.values()) {
    truth.must(held.isOver && held.runs.length > 0, `delivery ${held.delivery.delivery_id} came to an end`)
  }
}

const read = (envId: EnvId) =>
  Effect.gen(function* () {
    const runStore = yield* RunStore
    const eventStore = yield* EventStore
    const tenants = yield* TenantStore
    const usages = yield* UsageStore
    const env = yield* tenants.getEnv(envId)
    const all = { limit: 1_000_000, offset: 0 }
    return {
      runs: (yield* runStore.list(envId, all, {})).items,
      events: (yield* eventStore.list(envId, all)).items,
      stats: yield* runStore.stats(envId),
      waiting: yield* runStore.waiting(1000),
      usage: yield* usages.runs(env.org_id, { start: at(0), end: at(1) })
    }
  })

/** The beginning of a month of the year in which the simulation plays. */
const at = (month: number): Timestamp => Timestamp.make(Date.UTC(2026, month, 1))
