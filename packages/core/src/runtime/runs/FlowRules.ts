/**
 * Rules of flow control that decide when an event is published: whether a function gets it, and what it replaces. Pure.
 *
 * A store keeps the state of each key as JSON text, and applies the rules under a lock on the key. So they are exact for all
 * nodes together, and an admission that fails changes nothing.
 */
import { Schema } from "effect"
import { DeliveryId } from "../../foundation/Ids.ts"
import { addMillis, Timestamp } from "../../foundation/time/Timestamp.ts"
import { addStart, currentStart, nextStart } from "./StartRate.ts"

export type FlowRule =
  /** Only the first delivery of the key within the window is stored. */
  | { readonly _tag: "Dedupe"; readonly key: string; readonly window_ms: number }
  /** Deliveries of the key beyond `limit` within any period are not stored. */
  | { readonly _tag: "RateLimit"; readonly key: string; readonly limit: number; readonly period_ms: number }
  /** No delivery is stored while another one of its group is pending or running. */
  | { readonly _tag: "Singleton" }
  /** A delivery replaces all of its group that are pending or running. Applies after all others, if none drops it. */
  | { readonly _tag: "Replace" }
  /**
   * The event joins the pending batch of the key, and its delivery is not stored; or the delivery begins a new batch. `bytes` are
   * those of the event's data. Applies after all others.
   */
  | {
      readonly _tag: "Batch"
      readonly key: string
      readonly size: number
      readonly timeout_ms: number
      readonly bytes: number
    }
  /** A delivery replaces the pending one of the key, and starts later: at most `max_ms` after the first one. */
  | { readonly _tag: "Debounce"; readonly key: string; readonly period_ms: number; readonly max_ms: number | null }

/** State of a key. Each rule has keys of its own. */
const FlowState = Schema.Struct({
  /** Times of the latest deliveries, ascending. */
  times: Schema.optionalKey(Schema.Array(Timestamp)),
  /**
   * The delivery that waits for the end of its debounce, and the time of the first that it replaced. Or the delivery of a batch,
   * with the time and the priority of its first event.
   */
  waiting: Schema.optionalKey(
    Schema.Struct({
      delivery_id: DeliveryId,
      due_at: Timestamp,
      since: Timestamp,
      ahead_ms: Schema.optionalKey(Schema.Int)
    })
  )
})
export type FlowState = typeof FlowState.Type

const decodeState = Schema.decodeSync(Schema.fromJsonString(FlowState))

/** A state as a store keeps it. */
export interface StoredFlowState {
  readonly state: string
  /** From then on, the key is as one without a state. */
  readonly expires_at: Timestamp
}

/** Returns the state of a stored one; undefined without one, or after its expiry. */
export const readFlowState = (stored: StoredFlowState | undefined, now: Timestamp): FlowState | undefined =>
  stored === undefined || stored.expires_at <= now ? undefined : decodeState(stored.state)

export const writeFlowState = (state: FlowState, expires_at: Timestamp): StoredFlowState => ({
  state: JSON.stringify(state),
  expires_at
})

/** Keys whose states the rules read. */
export const flowKeysOf = (rules: ReadonlyArray<FlowRule>): ReadonlyArray<string> =>
  rules.flatMap((rule) => ("key" in rule ? [rule.key] : []))

/** Result of a rule: the new state of its key, or that the delivery is not stored. */
export type FlowDecision = { readonly _tag: "Dropped" } | { readonly _tag: "Stored"; readonly state: StoredFlowState }

/** Decides about a delivery at `now`. A debounce never drops one: see `debounce`. */
export const decideFlow = (
  rule: Extract<FlowRule, { _tag: "Dedupe" | "RateLimit" }>,
  state: FlowState | undefined,
  now: Timestamp
): FlowDecision => {
  if (rule._tag === "Dedupe") {
    return state === undefined
      ? { _tag: "Stored", state: writeFlowState({}, addMillis(now, rule.window_ms)) }
      : { _tag: "Dropped" }
  }
  const times = state?.times ?? []
  const at = currentStart(times, now)
  return nextStart(rule, times, now) > at
    ? { _tag: "Dropped" }
    : { _tag: "Stored", state: writeFlowState({ times: addStart(rule, times, at) }, addMillis(at, rule.period_ms)) }
}

/** Time in milliseconds for which a debounced delivery that no node has claimed can be replaced. */
const replaceableMs = 86_400_000

/**
 * Returns the due time of a debounced delivery, and the new state of its key.
 *
 * @param waiting the delivery that it replaces, which was pending until now
 */
export const debounce = (
  { period_ms, max_ms }: Extract<FlowRule, { _tag: "Debounce" }>,
  delivery: { readonly delivery_id: DeliveryId; readonly due_at: Timestamp },
  waiting: FlowState["waiting"],
  now: Timestamp
): { readonly due_at: Timestamp; readonly state: StoredFlowState } => {
  const since = waiting?.since ?? now
  const quiet = addMillis(now, period_ms)
  const last = max_ms === null ? quiet : addMillis(since, max_ms)
  const ready = quiet < last ? quiet : last
  // A delayed event is never handled before its time.
  const due_at = Timestamp.make(Math.max(ready, delivery.due_at))
  const { delivery_id } = delivery
  return {
    due_at,
    state: writeFlowState({ waiting: { delivery_id, due_at, since } }, addMillis(due_at, replaceableMs))
  }
}
