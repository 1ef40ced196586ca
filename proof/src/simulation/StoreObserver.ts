/** Wraps stores so that every write also updates the reference model. */
import {
  AdmissionStore,
  type JournalEntry,
  JournalStore,
  RunControlStore,
  type Stores,
  TickStore,
  WorkflowStore
} from "@weft/core/adapter"
import { Context, Effect } from "effect"
import type { Outcomes, ReferenceModel } from "./ReferenceModel.ts"

export const observeStores = (stores: Context.Context<Stores>, model: ReferenceModel): Context.Context<Stores> => {
  const journal = Context.get(stores, JournalStore)
  const admissions = Context.get(stores, AdmissionStore)
  const control = Context.get(stores, RunControlStore)
  const ticks = Context.get(stores, TickStore)
  const workflows = Context.get(stores, WorkflowStore)
  const readOutcomes = (entry: JournalEntry) =>
    entry._tag === "Advanced"
      ? Effect.map(
          workflows.load(entry.run),
          ({ history }): Outcomes => new Map(history.waits.map(({ seq, outcome }) => [seq, outcome]))
        )
      : Effect.succeed<Outcomes>(new Map())
  const record = <A, E>(effect: Effect.Effect<A, E>, update: (result: A) => void) =>
    Effect.tap(effect, (result) => Effect.sync(() => update(result)))

  return stores.pipe(
    Context.add(JournalStore, {
      ...journal,
      commit: (entries, lease) =>
        Effect.flatMap(Effect.forEach(entries, readOutcomes), (outcomes) =>
          record(journal.commit(entries, lease), (counted) => model.committed(entries, lease, counted, outcomes))
        ),
      claim: (request) => record(journal.claim(request), ({ claims }) => model.claimed(request.lease, claims)),
      reap: (nodeId, now, limit, own) =>
        record(journal.reap(nodeId, now, limit, own), (lost) => model.reaped(nodeId, now, own, lost)),
      endLease: (nodeId) => record(journal.endLease(nodeId), () => model.nodeLeft(nodeId))
    }),
    Context.add(AdmissionStore, {
      ...admissions,
      admit: (admission) => record(admissions.admit(admission), (admitted) => model.admitted(admission, admitted))
    }),
    Context.add(RunControlStore, {
      ...control,
      cancel: (envId, which, at, limit) =>
        record(control.cancel(envId, which, at, limit), (cancelled) =>
          model.cancelled(cancelled.map(({ run }) => run))
        ),
      redeliver: (delivery) => record(control.redeliver(delivery), () => model.redelivered(delivery))
    }),
    Context.add(WorkflowStore, {
      ...workflows,
      load: (run) => record(workflows.load(run), ({ history }) => model.workflows.loaded(run.run_id, history)),
      loadSmall: (envId, runs) =>
        record(workflows.loadSmall(envId, runs), (loaded) => {
          for (const [runId, { history }] of loaded) model.workflows.loaded(runId, history)
        })
    }),
    Context.add(TickStore, {
      fire: (wanted) => record(ticks.fire(wanted), (moved) => model.fired(wanted, moved))
    })
  )
}
