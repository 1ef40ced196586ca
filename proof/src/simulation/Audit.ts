/** Compares the stores of an idle cluster with the reference model. */
import type { EnvId } from "@weft/core"
import {
  type Event,
  EventStore,
  type Run,
  RunStore,
  type Stores,
  TenantStore,
  Timestamp,
  UsageStore
} from "@weft/core/adapter"
import { type Context, Effect } from "effect"
import { functionName } from "./Guest.ts"
import { describeRun, type ReferenceModel } from "./ReferenceModel.ts"
import type { Rules } from "./Scenario.ts"

export interface Audited {
  readonly stores: Context.Context<Stores>
  readonly model: ReferenceModel
  readonly envId: EnvId
  readonly rules: ReadonlyArray<Rules>
}

export const audit = ({ stores, model, envId, rules }: Audited): void => {
  const { runs, events, stats, waiting, usage } = Effect.runSync(
    Effect.orDie(Effect.provideContext(read(envId), stores))
  )
  sameRuns(model, runs)
  model.must(events.length === model.events.size, `${model.events.size} events are stored (got ${events.length})`)
  for (const event of events) model.must(model.events.has(event.event_id), `event ${event.event_id} was published`)
  model.must(waiting === 0, `no delivery is pending in the store (got ${waiting})`)
  const count = (status: Run["status"]) => runs.filter((run) => run.status === status).length
  model.must(
    stats.total_runs === runs.length &&
      stats.succeeded === count("succeeded") &&
      stats.running === 0 &&
      stats.failed === count("failed") &&
      stats.cancelled === count("cancelled"),
    `run statistics match the stored runs (got ${JSON.stringify(stats)})`
  )
  model.must(
    usage.call_count === runs.length,
    `${runs.length} runs are counted for the organization (got ${usage.call_count})`
  )
  complete(model, events, rules)
}

const sameRuns = (model: ReferenceModel, runs: ReadonlyArray<Run>): void => {
  model.must(runs.length === model.runs.size, `${model.runs.size} runs are stored (got ${runs.length})`)
  for (const run of runs) {
    const known = model.runs.get(run.run_id)
    model.must(
      known?.status === run.status,
      `${describeRun(run)} is stored with its final status ${known?.status} (got ${run.status})`
    )
    model.must(known?.result === run.result, `${describeRun(run)} is stored with its result`)
  }
}

/**
 * Checks that every event has a delivery for each of its handlers, except handlers that take one event per key. The model has
 * checked each decision of a flow control.
 */
const complete = (model: ReferenceModel, events: ReadonlyArray<Event>, rules: ReadonlyArray<Rules>): void => {
  const deliveries = Map.groupBy(model.deliveries.values(), ({ delivery }) => delivery.event_id)
  for (const event of events) {
    const found = (deliveries.get(event.event_id) ?? []).map(({ delivery }) => delivery.var)
    for (const [index, { once, control }] of rules.entries()) {
      const isHandled = event.event_type === "job:all" || event.event_type === `job:${index}`
      const count = found.filter((name) => name === functionName(index)).length
      if (isHandled && !once && control === null)
        model.must(count === 1, `event ${event.event_id} has one delivery (got ${count})`)
      else if (isHandled) model.must(count <= 1, `event ${event.event_id} has at most one delivery (got ${count})`)
    }
  }
  for (const event of events.filter(({ event_type }) => event_type.startsWith("flow:"))) {
    const count = deliveries.get(event.event_id)?.length ?? 0
    model.must(count === 1, `event ${event.event_id} of a durable function has one delivery (got ${count})`)
  }
  model.controls.batches.finished()
  for (const held of model.deliveries.values()) {
    if (model.controls.isReplaced(held)) continue
    model.must(held.isSettled && held.runs.length > 0, `delivery ${held.delivery.delivery_id} is settled`)
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

/** Start of a month of 2026, the year of the simulation. */
const at = (month: number): Timestamp => Timestamp.make(Date.UTC(2026, month, 1))
