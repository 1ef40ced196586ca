/** Reasons why deliveries, durable runs and schedules wait, since when and until when. Pure. */
import { Schema } from "effect"
import type { EventId, RunId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "../../resources/schedules/Schedule.ts"
import type { Delivery } from "./Delivery.ts"
import { parkedAt } from "./Group.ts"
import { type Pause, pausedAt } from "./Pause.ts"
import { parseWaiting, type WaitingFor } from "./Workflow.ts"

/**
 * - `slot`: due, and no node has claimed it.
 * - `group`: the runs of its concurrency key are at their limit.
 * - `throttle`, `debounce`: flow control delays it.
 * - `batch`: further events may join it.
 * - `delay`: its event was published for a later time.
 * - `retry`: the pause before the next attempt, of a delivery or of a step.
 * - `timer`, `event`, `token`, `run`: what a durable run waits for; `timer` also: the next tick of a schedule.
 * - `node`: the node that executed the run is down.
 * - `plan`: the plan allows no more runs.
 * - `paused`: the function, its project or its environment is paused.
 */
const WaitReason = Schema.Literals([
  ...["slot", "group", "throttle", "debounce", "batch", "delay", "retry", "timer", "event", "token", "run", "node"],
  "plan",
  "paused"
] as const)

export const Wait = Schema.Struct({
  reason: WaitReason,
  since: Timestamp,
  /** End of the wait; null if something else ends it. */
  until: Schema.NullOr(Timestamp),
  /**
   * Key of the group or throttle, or name of the timer, step, event, token or run. Of a batch the number of its events, of a pause
   * its credential. Null for other reasons.
   */
  detail: Schema.NullOr(Schema.String)
})
export type Wait = typeof Wait.Type

/** A pending delivery, with what decides why it waits. */
export interface PendingDelivery
  extends Pick<
    Delivery,
    | "delivery_id"
    | "event_id"
    | "project_id"
    | "project_name"
    | "ns"
    | "var"
    | "attempt"
    | "due_at"
    | "throttle"
    | "batch"
  > {
  readonly event_type: string
  readonly event_time: Timestamp
  /** Time at which its event was stored. */
  readonly created_at: Timestamp
  readonly group_key: string | null
  readonly first_run_id: RunId | null
  readonly continues: RunId | null
  /** Since when its group or throttle holds it; null if none does. */
  readonly held_since: Timestamp | null
  /** End of the latest attempt; null before it. */
  readonly last_stop: Timestamp | null
  /** `Run.waiting` of the run that it continues; null for others. */
  readonly run_waiting: JsonText | null
}

/** Returns why a pending delivery waits at `now`. `pause` is the one that covers its function. */
export const explainDelivery = (pending: PendingDelivery, now: Timestamp, pause?: Pause): Wait => {
  const { due_at, group_key, continues, run_waiting, held_since, throttle, created_at, event_time } = pending
  if (due_at === parkedAt) return { reason: "group", since: held_since ?? created_at, until: null, detail: group_key }
  if (pause !== undefined && continues === null && (due_at <= now || due_at === pausedAt)) return explainPause(pause)
  // A held delivery of a pause that has ended is due soon.
  if (due_at === pausedAt) return { reason: "slot", since: held_since ?? created_at, until: null, detail: null }
  if (due_at <= now) return { reason: "slot", since: due_at, until: null, detail: null }
  if (continues !== null && run_waiting !== null) return explainSuspension(run_waiting)
  const until = due_at
  if (held_since !== null) return { reason: "throttle", since: held_since, until, detail: throttle?.key ?? null }
  const { first_run_id, last_stop } = pending
  if (first_run_id !== null) return { reason: "retry", since: last_stop ?? created_at, until, detail: null }
  const { batch } = pending
  if (batch !== undefined && batch.until > now)
    return { reason: "batch", since: created_at, until, detail: `${batch.events.length} of ${batch.size}` }
  const reason = due_at > event_time ? "debounce" : "delay"
  return { reason, since: created_at, until, detail: null }
}

/** Returns the wait of everything that a pause holds: since its time, with its credential. */
const explainPause = ({ paused_at, paused_by }: Pause): Wait => ({
  reason: "paused",
  since: paused_at,
  until: null,
  detail: paused_by
})

/** Returns why a suspended durable run waits, from its field `waiting`. */
export const explainSuspension = (text: JsonText): Wait => {
  const { for: reason, name, since, until } = parseWaiting(text)
  return { reason: reason satisfies WaitingFor, since, until, detail: name === "" ? null : name }
}

/** Returns why a schedule has not fired yet. */
export const explainSchedule = ({ next_at, due_at, created_at }: Schedule, now: Timestamp, pause?: Pause): Wait => {
  if (pause !== undefined && next_at <= now) return explainPause(pause)
  if (due_at > next_at) return { reason: "plan", since: next_at, until: due_at, detail: null }
  return next_at > now
    ? { reason: "timer", since: created_at, until: next_at, detail: null }
    : { reason: "slot", since: next_at, until: null, detail: null }
}

/** Selects pending deliveries of an environment. Each field restricts the selection. */
export interface PendingFilter {
  /** Only of projects with one of these ids, or names when the events were published. */
  readonly only?: ReadonlyArray<string>
  /** Id of the project, or its name when the event was published. */
  readonly project?: string
  /** Lists of function names: `ns/var`, or `project:ns/var`. Only deliveries of a function in every list. */
  readonly functions?: ReadonlyArray<ReadonlyArray<string>>
  readonly eventType?: string
  readonly eventId?: EventId
  readonly deliveryId?: Delivery["delivery_id"]
  /** The delivery that continues this run; null for deliveries that start a run. */
  readonly continues?: RunId | null
}
