/** `DeliveryStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { EnvId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { DeliveryStore } from "../runtime/runs/DeliveryStore.ts"
import type { PendingDelivery, PendingFilter } from "../runtime/runs/WaitReason.ts"
import { compareText, type DeliveryRow, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<DeliveryStore, never, MemoryDatabase> = Layer.effect(
  DeliveryStore,
  Effect.map(MemoryDatabase, (db) =>
    DeliveryStore.of({
      list: (envId, page, filter) =>
        Effect.sync(() => {
          const sorted = [...select(db, envId, filter)].sort(
            (a, b) => a.due_at - b.due_at || compareText(a.delivery_id, b.delivery_id)
          )
          return sorted.slice(page.offset, page.offset + page.limit)
        }),

      count: (envId, filter, limit) => Effect.sync(() => Math.min(select(db, envId, filter).length, limit)),

      downSince: (nodeId, now) =>
        Effect.sync(() => {
          const until = db.leases.get(nodeId)
          if (until === undefined) return now
          return until < now ? until : null
        })
    })
  )
)

type Database = MemoryDatabase["Service"]

const select = (db: Database, envId: EnvId, filter: PendingFilter): ReadonlyArray<PendingDelivery> =>
  [...db.deliveries.values()]
    .filter(({ delivery, run_id }) => run_id === null && delivery.env_id === envId)
    .map((row) => toPending(db, row))
    .filter((pending) => isListed(pending, filter))

const toPending = (db: Database, { delivery, held_since }: DeliveryRow): PendingDelivery => {
  const { delivery_id, event_id, project_id, project_name, ns, attempt, due_at, throttle, batch, first_run_id } =
    delivery
  const { continues } = delivery
  const event = db.events.get(event_id)
  return {
    ...{ delivery_id, event_id, project_id, project_name, ns, var: delivery.var, attempt, due_at },
    ...(throttle === undefined ? {} : { throttle }),
    ...(batch === undefined ? {} : { batch }),
    ...{ first_run_id, continues, held_since: held_since ?? null, group_key: delivery.group?.key ?? null },
    event_type: event?.event_type ?? "",
    event_time: event?.event_time ?? due_at,
    created_at: event?.created_at ?? due_at,
    last_stop: first_run_id === null ? null : findLastStop(db, delivery),
    run_waiting: continues === null ? null : (db.runs.get(continues)?.waiting ?? null)
  }
}

const findLastStop = (
  db: Database,
  { event_id, project_id, ns, var: name }: DeliveryRow["delivery"]
): Timestamp | null =>
  [...db.runs.values()]
    .filter((run) => run.event_id === event_id && run.project_id === project_id && run.ns === ns && run.var === name)
    .flatMap(({ stop_time }) => stop_time ?? [])
    .reduce<Timestamp | null>((last, stop) => (last !== null && last > stop ? last : stop), null)

const isListed = (pending: PendingDelivery, filter: PendingFilter): boolean => {
  const { only, project, functions = [], eventType, eventId, deliveryId, continues } = filter
  const name = `${pending.ns}/${pending.var}`
  const isOf = (idOrName: string) => idOrName === pending.project_id || idOrName === pending.project_name
  return (
    (only === undefined || only.some(isOf)) &&
    (project === undefined || isOf(project)) &&
    functions.every((list) => list.includes(name) || list.includes(`${pending.project_name}:${name}`)) &&
    (eventType === undefined || pending.event_type === eventType) &&
    (eventId === undefined || (pending.batch?.events ?? [pending.event_id]).includes(eventId)) &&
    (deliveryId === undefined || pending.delivery_id === deliveryId) &&
    (continues === undefined || pending.continues === continues)
  )
}
