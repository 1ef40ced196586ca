/**
 * Throttles: how often the runs of a key start, in their environment, on all nodes together. Pure.
 *
 * Only a claim decides, because only it starts runs: a time that was reserved in advance would be exceeded after an outage. A
 * delivery that may not start is due when the next ones may. Retries and replays count as starts. A durable run that
 * continues does not, nor a delivery that has expired: its function is not called.
 */
import type { DeliveryId, EnvId } from "../../foundation/Ids.ts"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"
import { type ExpiringDelivery, hasExpired } from "./Expiry.ts"
import { readFlowState, type StoredFlowState, writeFlowState } from "./FlowRules.ts"
import { addStart, currentStart, nextStart } from "./StartRate.ts"

/** The fields of a due delivery and its event that decide. */
export type Throttled = Pick<Delivery, "delivery_id" | "env_id" | "throttle"> &
  ExpiringDelivery &
  Pick<Event, "event_time">

/** The new state of a key. */
export interface ThrottleState {
  readonly env_id: EnvId
  readonly key: string
  readonly stored: StoredFlowState
}

export interface ThrottleDecision {
  /** Deliveries that may not start, with the times at which they are due. */
  readonly later: ReadonlyMap<DeliveryId, Timestamp>
  readonly states: ReadonlyArray<ThrottleState>
}

/** Decides which of the due deliveries start at `now`, in their order. */
export const throttle = (
  due: ReadonlyArray<Throttled>,
  read: (envId: EnvId, key: string) => StoredFlowState | undefined,
  now: Timestamp
): ThrottleDecision => {
  const later = new Map<DeliveryId, Timestamp>()
  const states: Array<ThrottleState> = []
  const throttled = due.flatMap((each) =>
    each.throttle === undefined || each.continues !== null || hasExpired(each, each, now)
      ? []
      : [{ delivery_id: each.delivery_id, env_id: each.env_id, ...each.throttle }]
  )
  for (const [, members] of Map.groupBy(throttled, ({ env_id, key }) => `${env_id} ${key}`)) {
    const [first] = members
    if (first === undefined) continue
    const { env_id, key } = first
    const stored = readFlowState(read(env_id, key), now)?.times ?? []
    const current = currentStart(stored, now)
    /** Starts that are stored, then those of this claim, then those that are expected later. */
    let starts = stored
    let state: ThrottleState | undefined
    for (const { delivery_id, ...rate } of members) {
      const at = nextStart(rate, starts, now)
      starts = addStart(rate, starts, at)
      if (at > current) later.set(delivery_id, at)
      else state = { env_id, key, stored: writeFlowState({ times: starts }, addMillis(at, rate.period_ms)) }
    }
    if (state !== undefined) states.push(state)
  }
  return { later, states }
}
