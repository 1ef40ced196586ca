/**
 * Schedules run functions at given times.
 *
 * A static schedule is declared in a build's `meta`, and deployments create and remove it. A dynamic schedule is created
 * by a `svc:schedule:new` event, belongs to its function's project and survives deployments.
 */
import { Schema } from "effect"
import { EnvId, ProjectId, ScheduleId } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export const Schedule = Schema.Struct({
  /** For a dynamic schedule, the id of the event that created it. */
  schedule_id: ScheduleId,
  env_id: EnvId,
  project_id: ProjectId,
  kind: Schema.Literals(["static", "dynamic"]),
  ns: Schema.String,
  var: Schema.String,
  /** Array of arguments for the function of a dynamic schedule. That of a static schedule receives the tick instead. */
  args: Schema.NullOr(JsonText),
  /** Null if the schedule fires once, at `next_at`. */
  cron: Schema.NullOr(Schema.String),
  timezone: Schema.String,
  /** First tick that has neither fired nor been skipped. */
  next_at: Timestamp,
  /** Time of the next attempt to fire: `next_at`, or later while the plan's quota of runs is used up. */
  due_at: Timestamp,
  created_at: Timestamp,
  /** Depth in their chain of the events that its ticks publish: that of the event that created the schedule. */
  depth: Schema.Int
})
export type Schedule = typeof Schedule.Type

/** Maximum dynamic schedules of an environment. */
export const dynamicMax = 10_000

/** A change that an event makes to the dynamic schedules of its environment. */
export type ScheduleChange =
  /** `max` is the maximum of dynamic schedules of the environment, including this one. */
  | { readonly _tag: "Created"; readonly schedule: Schedule; readonly max: number }
  | { readonly _tag: "Cancelled"; readonly env_id: EnvId; readonly by: Cancelled }

/** Selects one schedule, or all schedules of a function. */
export type Cancelled =
  | { readonly schedule_id: ScheduleId }
  | { readonly project_id: ProjectId; readonly ns: string; readonly var: string }

/** Reason why a change is rejected: the maximum of schedules is reached, or there is no schedule to cancel. */
export type ScheduleRefusal = "too many" | "none"
