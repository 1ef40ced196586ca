/** Stores as they are, with somebody who notes what they did. */
import { AdmissionStore, JournalStore, RunControlStore, type Stores, TickStore } from "@weft/core"
import { Context, Effect } from "effect"
import type { Truth } from "./Truth.ts"

export const observed = (stores: Context.Context<Stores>, truth: Truth): Context.Context<Stores> => {
  const journal = Context.get(stores, JournalStore)
  const admissions = Context.get(stores, AdmissionStore)
  const control = Context.get(stores, RunControlStore)
  const ticks = Context.get(stores, TickStore)
  const noting = <A, E>(effect: Effect.Effect<A, E>, note: (result: A) => void) =>
    Effect.tap(effect, (result) => Effect.sync(() => note(result)))

  return stores.pipe(
    Context.add(JournalStore, {
      ...journal,
      commit: (entries, lease) =>
        noting(journal.commit(entries, lease), (counted) => truth.committed(entries, lease, counted)),
      claim: (request) => noting(journal.claim(request), ({ claims }) => truth.claimed(request.lease, claims)),
      reap: (nodeId, now, limit, own) =>
        noting(journal.reap(nodeId, now, limit, own), (lost) => truth.reaped(nodeId, now, own, lost)),
      leave: (nodeId) => noting(journal.leave(nodeId), () => truth.leaves(nodeId))
    }),
    Context.add(AdmissionStore, {
      ...admissions,
      admit: (admission) => noting(admissions.admit(admission), (admitted) => truth.admitted(admission, admitted))
    }),
    Context.add(RunControlStore, {
      ...control,
      cancel: (envId, which, at, limit) =>
        noting(control.cancel(envId, which, at, limit), (cancelled) =>
          truth.cancelled(cancelled.map(({ run }) => run))
        ),
      redeliver: (delivery) => noting(control.redeliver(delivery), () => truth.redelivered(delivery))
    }),
    Context.add(TickStore, {
      fire: (wanted) => noting(ticks.fire(wanted), (moved) => truth.fired(wanted, moved))
    })
  )
}
