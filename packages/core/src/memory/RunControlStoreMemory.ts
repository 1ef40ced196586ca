/** `RunControlStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import type { DeliveryPosition, DeliverySelection, DiscardedDelivery } from "../runtime/runs/DeliverySelection.ts"
import { parkedAt } from "../runtime/runs/Group.ts"
import { type Renewal, RunControlStore } from "../runtime/runs/RunControlStore.ts"
import { apply } from "./JournalStoreMemory.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"
import { advance } from "./OperationStoreMemory.ts"
import { cancelSelected } from "./RunCancellationMemory.ts"

export const layer: Layer.Layer<RunControlStore, never, MemoryDatabase> = Layer.effect(
  RunControlStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const { runs, logs, events, deliveries, histories, cleanups } = db

    return RunControlStore.of({
      cancel: (envId, which, at, limit) => Effect.sync(() => cancelSelected(db, envId, which, at, limit)),

      requestCleanup: ({ env_id, run_id }, until, at) =>
        Effect.sync(() => {
          const run = runs.get(run_id)
          if (run?.env_id !== env_id || run.status !== "running" || run.activations === null) return null
          if (!cleanups.has(run_id)) cleanups.set(run_id, until)
          for (const [id, row] of deliveries) {
            const { delivery } = row
            const isLater = delivery.due_at > at && delivery.due_at !== parkedAt
            if (row.run_id === null && delivery.continues === run_id && isLater)
              deliveries.set(id, { ...row, delivery: { ...delivery, due_at: at } })
          }
          return run
        }),

      discard: (envId, which, after, limit) =>
        Effect.sync(() => {
          const examined = [...deliveries.values()]
            .filter(({ delivery, run_id }) => run_id === null && delivery.env_id === envId)
            .map(({ delivery }) => delivery)
            .sort(comparePositions)
            .filter((delivery) => after === null || comparePositions(delivery, after) > 0)
            .slice(0, limit)
          const discarded = examined.flatMap((delivery): ReadonlyArray<DiscardedDelivery> => {
            const { delivery_id, event_id, stream_id, group } = delivery
            const event_type = events.get(event_id)?.event_type ?? ""
            if (!isDiscarded(delivery, event_type, which)) return []
            deliveries.delete(delivery_id)
            return [{ delivery_id, event_id, stream_id, event_type, group: group?.key ?? null }]
          })
          const last = examined.length < limit ? undefined : examined.at(-1)
          return { discarded, next: last === undefined ? null : { due_at: last.due_at, delivery_id: last.delivery_id } }
        }),

      log: (written) =>
        Effect.sync(() =>
          written.map(({ env_id, run_id, entries }) => {
            const run = runs.get(run_id)
            if (run === undefined || run.env_id !== env_id) return null
            if (run.status === "running" || run.status === "cancelled") logs.set(run_id, entries)
            return run.status
          })
        ),

      ended: (refs) =>
        Effect.sync(() =>
          refs
            .filter(({ env_id, run_id }) => {
              const run = runs.get(run_id)
              return run?.env_id === env_id && run.status !== "running"
            })
            .map((run) => run.run_id)
        ),

      redeliver: (delivery) => Effect.sync(() => void deliveries.set(delivery.delivery_id, { delivery, run_id: null })),

      renew: (renewal) => Effect.sync(() => renew(db, renewal)),

      advance: (step) => Effect.sync(() => advance(db, step)),

      fork: ({ run, delivery, source, before }) =>
        Effect.sync(() => {
          runs.set(run.run_id, run)
          deliveries.set(delivery.delivery_id, { delivery, run_id: null })
          const copied =
            runs.get(source.run_id)?.env_id === run.env_id ? histories.get(source.run_id)?.steps : undefined
          const steps = (copied ?? []).filter(({ position }) => position < before)
          histories.set(run.run_id, { steps, waits: [] })
        })
    })
  })
)

const renew = (db: MemoryDatabase["Service"], { run, logs, deliveryId, event, delivery }: Renewal): boolean => {
  const held = db.deliveries.get(deliveryId)
  if (held?.run_id !== run.run_id || db.runs.get(run.run_id)?.status !== "running") return false
  const waiting = [...db.histories].filter(([, { waits }]) =>
    waits.some((wait) => wait.child_event_id === run.event_id && wait.outcome === null)
  )
  if (delivery.awaited === true && waiting.length === 0) return false
  for (const [runId, history] of waiting) {
    const waits = history.waits.map((wait) =>
      wait.child_event_id === run.event_id && wait.outcome === null ? { ...wait, child_event_id: event.event_id } : wait
    )
    db.histories.set(runId, { ...history, waits })
  }
  apply(db, { _tag: "Settled", run, logs, deliveryId, next: null })
  return apply(db, { _tag: "Appended", event, deliveries: [{ delivery, run: null }] })
}

const comparePositions = (a: DeliveryPosition, b: DeliveryPosition): number =>
  a.due_at - b.due_at || compareText(a.delivery_id, b.delivery_id)

const isDiscarded = (delivery: Delivery, event_type: string, which: DeliverySelection): boolean => {
  const { projectId, project, eventType, callBy, functions = [], before } = which
  const name = `${delivery.ns}/${delivery.var}`
  const names = [name, `${delivery.project_name}:${name}`]
  return (
    // That of a suspended run belongs to its run, which only ends by `cancel`.
    delivery.continues === null &&
    (projectId === undefined || delivery.project_id === projectId) &&
    (project === undefined || delivery.project_id === project || delivery.project_name === project) &&
    (eventType === undefined || event_type === eventType) &&
    (callBy === undefined || (delivery.run_type === "call" && delivery.event_id === callBy)) &&
    (before === undefined || delivery.delivery_id < before) &&
    functions.every((list) => names.some((each) => list.includes(each)))
  )
}
