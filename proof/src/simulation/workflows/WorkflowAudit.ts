/** Audits durable runs of an idle cluster: their histories, each prefix of them, and what retention leaves. */
import type { EnvId } from "@weft/core"
import { JournalStore, leastIdAt, RunId, RunStore, type Stores, WorkflowStore } from "@weft/core/adapter"
import { type Context, Effect } from "effect"
import type { ReferenceModel } from "../ReferenceModel.ts"
import { replayPrefixes } from "./Prefixes.ts"

export interface AuditedWorkflows {
  readonly stores: Context.Context<Stores>
  readonly model: ReferenceModel
  readonly envId: EnvId
}

export const auditWorkflows = async ({ stores, model, envId }: AuditedWorkflows): Promise<void> => {
  const { workflows } = model
  if (workflows.flows.size === 0) return
  const run = <A, E>(effect: Effect.Effect<A, E, Stores>) =>
    Effect.runSync(Effect.orDie(Effect.provideContext(effect, stores)))
  for (const [stored, history] of run(readHistories(envId))) workflows.audited(stored, history)
  const awaited = run(WorkflowStore.use((store) => store.awaited))
  model.must(awaited.length === 0, `no ended run waits for an event (got ${awaited.length} types)`)
  for (const flow of workflows.flows.values()) {
    const event = [...model.events.values()].find(({ event_id }) => event_id === flow.run.event_id)
    if (event === undefined) continue
    for (const broken of await replayPrefixes(flow, event)) model.must(false, broken)
  }
  const remaining = run(removeAll(envId, [...workflows.flows.keys()]))
  model.must(remaining === 0, `retention leaves no result of a removed run (got ${remaining})`)
}

const readHistories = (envId: EnvId) =>
  Effect.gen(function* () {
    const store = yield* WorkflowStore
    const { items } = yield* (yield* RunStore).list(envId, { limit: 1_000_000, offset: 0 }, {})
    return yield* Effect.forEach(items, (stored) =>
      Effect.map(store.load(stored), ({ history }) => [stored, history] as const)
    )
  })

/** Start of 2027, after all runs. */
const afterAll = Date.UTC(2027, 0)

/** Removes all runs. Returns the number of results and waits that remain. */
const removeAll = (env_id: EnvId, runIds: ReadonlyArray<RunId>) =>
  Effect.gen(function* () {
    const journal = yield* JournalStore
    const store = yield* WorkflowStore
    while ((yield* journal.purge(env_id, leastIdAt(RunId, afterAll), 1000)) > 0);
    const counts = yield* Effect.forEach(runIds, (run_id) =>
      Effect.map(store.load({ env_id, run_id }), ({ history }) => history.steps.length + history.waits.length)
    )
    return counts.reduce((sum, count) => sum + count, 0)
  })
