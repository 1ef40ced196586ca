/** Flow control of the in-memory stores: the executable specification. */
import type { DeliveryId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import type { Claim } from "../runtime/journal/JournalStore.ts"
import type { AdmittedDelivery, Replaced } from "../runtime/runs/AdmissionStore.ts"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import { type Batched, type ClosedBatch, decideBatch, findWaiting, type OpenBatch } from "../runtime/runs/EventBatch.ts"
import { debounce, decideFlow, readFlowState, type StoredFlowState } from "../runtime/runs/FlowRules.ts"
import { throttle } from "../runtime/runs/Throttle.ts"
import type { MemoryDatabase } from "./MemoryDatabase.ts"
import { replaceGroup } from "./RunCancellationMemory.ts"

type Database = MemoryDatabase["Service"]

/** Effects of the rules of an admission on other deliveries. */
export interface FlowEffects {
  readonly replaced: Array<Replaced>
  readonly batched: Array<Batched>
}

/**
 * Applies the rules of a delivery. Returns the delivery to store; null if a rule drops it, or if its event joins a batch. Adds
 * what else the rules do to `effects`.
 */
export const admitFlow = (
  db: Database,
  { delivery, rules }: AdmittedDelivery,
  now: Timestamp,
  effects: FlowEffects
): Delivery | null => {
  const written = new Map<string, StoredFlowState>()
  let admitted: Delivery | null = delivery
  for (const rule of rules) {
    if (rule._tag === "Singleton") {
      if (isActive(db, delivery)) return null
      continue
    }
    if (rule._tag === "Replace") {
      effects.replaced.push(replaceGroup(db, delivery, now))
      continue
    }
    const row = rowKey(delivery, rule.key)
    const state = readFlowState(db.flowStates.get(row), now)
    if (rule._tag === "Debounce") {
      const waiting = state?.waiting
      const wasPending = waiting !== undefined && removePending(db, waiting)
      const decided = debounce(rule, delivery, wasPending ? waiting : undefined, now)
      written.set(row, decided.state)
      admitted = { ...delivery, due_at: decided.due_at }
      continue
    }
    if (rule._tag === "Batch") {
      const waiting = findWaiting(state, delivery, now)
      const open = waiting === undefined ? undefined : findOpen(db, waiting)
      const decided = decideBatch(rule, delivery, open, now)
      if (decided.state !== null) written.set(row, decided.state)
      const change = decided._tag === "Joined" ? decided : decided.closed
      if (open !== undefined && change !== null) setBatch(db, open, change, delivery.depth)
      const isDue = open !== undefined && change !== null && change.due_at < open.waiting.due_at
      admitted = decided._tag === "Joined" ? null : { ...delivery, due_at: decided.due_at, batch: decided.batch }
      const joined = decided._tag === "Joined" ? [delivery.delivery_id] : []
      if (change !== null) effects.batched.push({ joined, isDue })
      continue
    }
    const decision = decideFlow(rule, state, now)
    if (decision._tag === "Dropped") return null
    written.set(row, decision.state)
  }
  for (const [row, state] of written) db.flowStates.set(row, state)
  return admitted
}

/** Returns a batch whose delivery is still pending; undefined if it is not. */
const findOpen = (db: Database, waiting: OpenBatch["waiting"]): OpenBatch | undefined => {
  const row = db.deliveries.get(waiting.delivery_id)
  const isOpen = row?.run_id === null && row.delivery.due_at === waiting.due_at
  return isOpen && row.delivery.batch !== undefined ? { waiting, batch: row.delivery.batch } : undefined
}

const setBatch = (
  db: Database,
  { waiting: { delivery_id } }: OpenBatch,
  { batch, due_at }: ClosedBatch,
  depth: number
): void => {
  const row = db.deliveries.get(delivery_id)
  if (row === undefined) return
  const { delivery } = row
  db.deliveries.set(delivery_id, {
    ...row,
    delivery: { ...delivery, batch, due_at, depth: Math.max(delivery.depth, depth) }
  })
}

/** Returns the number of characters of the data of the delivery's events. */
export const countCharacters = (db: Database, { event_id, batch }: Delivery): number =>
  (batch?.events ?? [event_id]).reduce((sum, id) => sum + (db.events.get(id)?.event_data.length ?? 0), 0)

/** Returns the event of a claimed delivery, and all events of its batch; undefined if it is not stored. */
export const loadEvents = (
  db: Database,
  { event_id, batch }: Delivery
): Pick<Claim, "event" | "events"> | undefined => {
  const event = db.events.get(event_id)
  if (event === undefined) return undefined
  return batch === undefined ? { event } : { event, events: batch.events.flatMap((id) => db.events.get(id) ?? []) }
}

/** True if a delivery of the same group is pending or running. */
const isActive = (db: Database, { env_id, group }: Delivery): boolean =>
  [...db.deliveries.values()].some(({ delivery }) => delivery.env_id === env_id && delivery.group?.key === group?.key)

/** Removes a delivery that is still pending with this due time. Returns false if it is not. */
const removePending = (db: Database, { delivery_id, due_at }: Pick<Delivery, "delivery_id" | "due_at">): boolean => {
  const row = db.deliveries.get(delivery_id)
  return row?.run_id === null && row.delivery.due_at === due_at && db.deliveries.delete(delivery_id)
}

/** Returns the deliveries that their throttles allow to start at `now`. The others are due later. */
export const startThrottled = (
  db: Database,
  deliveries: ReadonlyArray<Delivery>,
  now: Timestamp
): ReadonlyArray<Delivery> => {
  if (deliveries.every((delivery) => delivery.throttle === undefined)) return deliveries
  const due = deliveries.flatMap((delivery) => {
    const event = db.events.get(delivery.event_id)
    return event === undefined ? [] : [{ ...delivery, event_time: event.event_time }]
  })
  const { later, states } = throttle(due, (env_id, key) => db.flowStates.get(rowKey({ env_id }, key)), now)
  for (const { env_id, key, stored } of states) db.flowStates.set(rowKey({ env_id }, key), stored)
  for (const [id, due_at] of later) holdUntil(db, id, due_at, now)
  return deliveries.filter(({ delivery_id }) => !later.has(delivery_id))
}

/** Holds a pending delivery until `due_at`. One that is held already keeps the time since when. */
export const holdUntil = (db: Database, id: DeliveryId, due_at: Timestamp, now: Timestamp): void => {
  const row = db.deliveries.get(id)
  if (row === undefined) return
  db.deliveries.set(id, { ...row, delivery: { ...row.delivery, due_at }, held_since: row.held_since ?? now })
}

const rowKey = ({ env_id }: Pick<Delivery, "env_id">, key: string): string => `${env_id} ${key}`
