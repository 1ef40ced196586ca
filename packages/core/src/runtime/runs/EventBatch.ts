/**
 * Batches: events of a function that one run handles together (`batch`). Pure.
 *
 * A pending delivery holds the batch. Its first event makes it, due after the timeout, and further events join it while it is
 * not due. So the store that claims it decides which events it has.
 */
import { Schema } from "effect"
import { type DeliveryId, EventId } from "../../foundation/Ids.ts"
import { addMillis, Timestamp } from "../../foundation/time/Timestamp.ts"
import { type FlowRule, type FlowState, type StoredFlowState, writeFlowState } from "./FlowRules.ts"

export const EventBatch = Schema.Struct({
  /** Ids of the events, in the order in which they joined. */
  events: Schema.Array(EventId),
  /** Number of events of a full batch. */
  size: Schema.Int,
  /** Bytes of the data of its events, while further ones may join. */
  bytes: Schema.Int,
  /** Time from which no event joins it. */
  until: Timestamp
})
export type EventBatch = typeof EventBatch.Type

/** Maximum bytes of the data of a batch: those of the largest event. A larger event of a host is a batch of its own. */
const batchBytesMax = 4 * 1024 * 1024

type BatchRule = Extract<FlowRule, { _tag: "Batch" }>
type Waiting = NonNullable<FlowState["waiting"]>

/** The fields of a delivery that decide. */
interface BatchedDelivery {
  readonly delivery_id: DeliveryId
  readonly event_id: EventId
  readonly due_at: Timestamp
}

/** A batch that is pending, and whose delivery the transaction has locked. */
export interface OpenBatch {
  readonly waiting: Waiting
  readonly batch: EventBatch
}

export type BatchDecision =
  /** The event joins the open batch, whose delivery is due at `due_at` from now on. */
  | {
      readonly _tag: "Joined"
      readonly batch: EventBatch
      readonly due_at: Timestamp
      readonly state: StoredFlowState | null
    }
  /** The delivery is stored with a new batch. The open one, if any, is closed. */
  | {
      readonly _tag: "Opened"
      readonly batch: EventBatch
      readonly due_at: Timestamp
      readonly state: StoredFlowState | null
      readonly closed: ClosedBatch | null
    }

/** A batch that no further event joins, with the due time of its delivery. */
export interface ClosedBatch {
  readonly batch: EventBatch
  readonly due_at: Timestamp
}

/** Returns the delivery of the batch that an event may join at `now`; undefined if it begins a new one. */
export const findWaiting = (
  state: FlowState | undefined,
  { due_at }: Pick<BatchedDelivery, "due_at">,
  now: Timestamp
): Waiting | undefined => {
  const waiting = state?.waiting
  // A delayed event would hold up the others, so it is a batch of its own.
  return waiting === undefined || waiting.due_at <= now || due_at > now ? undefined : waiting
}

/** Decides about an event at `now`. */
export const decideBatch = (
  rule: BatchRule,
  delivery: BatchedDelivery,
  open: OpenBatch | undefined,
  now: Timestamp
): BatchDecision => {
  if (open !== undefined && open.batch.bytes + rule.bytes <= batchBytesMax) return join(rule, delivery, open, now)
  const closed = open === undefined ? null : close(open, open.batch, now)
  const batch = { events: [delivery.event_id], size: rule.size, bytes: rule.bytes }
  if (rule.size === 1 || delivery.due_at > now)
    return { _tag: "Opened", batch: { ...batch, until: now }, due_at: delivery.due_at, state: null, closed }
  const due_at = addMillis(now, rule.timeout_ms)
  const ahead_ms = now - delivery.due_at
  const waiting = { delivery_id: delivery.delivery_id, due_at, since: now, ...(ahead_ms === 0 ? {} : { ahead_ms }) }
  return {
    _tag: "Opened",
    batch: { ...batch, until: due_at },
    due_at,
    state: writeFlowState({ waiting }, due_at),
    closed
  }
}

const join = ({ bytes }: BatchRule, { event_id }: BatchedDelivery, open: OpenBatch, now: Timestamp): BatchDecision => {
  const { waiting, batch } = open
  const joined = { ...batch, events: [...batch.events, event_id], bytes: batch.bytes + bytes }
  // The batch has the size that was declared when it began.
  return joined.events.length >= batch.size
    ? { _tag: "Joined", ...close(open, joined, now), state: noState(now) }
    : { _tag: "Joined", batch: joined, due_at: waiting.due_at, state: null }
}

/**
 * Closes a batch before its timeout: its delivery is due at once, ahead of others by its priority. An event that is stored late
 * may be older than the first one of the batch.
 */
const close = ({ waiting: { since, ahead_ms = 0 } }: OpenBatch, batch: EventBatch, now: Timestamp): ClosedBatch => {
  const until = now > since ? now : since
  return { batch: { ...batch, until }, due_at: addMillis(until, -ahead_ms) }
}

/** Returns a batch of these events that no further event joins. */
export const completeBatch = (events: ReadonlyArray<EventId>, now: Timestamp): EventBatch => ({
  events,
  size: events.length,
  bytes: 0,
  until: now
})

const EventIds = Schema.fromJsonString(Schema.Array(EventId))

/** Returns the events of `Run.event_ids`. */
export const parseEventIds = Schema.decodeSync(EventIds)

/** The state of a key without an open batch. */
const noState = (now: Timestamp): StoredFlowState => writeFlowState({}, now)

/** Deliveries of an admission that were not stored, because their events joined batches. */
export interface Batched {
  readonly joined: ReadonlyArray<DeliveryId>
  /** True if no further event can join one of the batches, so that it is due. */
  readonly isDue: boolean
}

/** Returns the field of an outcome for batches; none without any. */
export const joinBatched = (all: ReadonlyArray<Batched>): { readonly batched?: Batched } =>
  all.length === 0
    ? {}
    : { batched: { joined: all.flatMap(({ joined }) => joined), isDue: all.some(({ isDue }) => isDue) } }
