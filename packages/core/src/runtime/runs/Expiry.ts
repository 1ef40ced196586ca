/** The `ttl` of a function: the time from an event to the last possible start of its first run. Pure. */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"

/** The fields of a delivery that decide. */
export type ExpiringDelivery = Pick<Delivery, "ttl_ms" | "first_run_id" | "continues">

/** True if a start at `now` would be too late. Retries, and durable runs that continue, have started before. */
export const hasExpired = (
  { ttl_ms, first_run_id, continues }: ExpiringDelivery,
  { event_time }: Pick<Event, "event_time">,
  now: Timestamp
): boolean => ttl_ms !== undefined && first_run_id === null && continues === null && now > event_time + ttl_ms

/** Returns the outcome of a run that starts too late; null for any other. */
export const findExpiry = (
  delivery: ExpiringDelivery,
  event: Pick<Event, "event_time">,
  startTime: Timestamp
): Extract<Outcome, { _tag: "Expired" }> | null =>
  hasExpired(delivery, event, startTime) ? { _tag: "Expired", ttlMs: delivery.ttl_ms ?? 0 } : null
