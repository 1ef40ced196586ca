/**
 * Schedules: functions that run when their time has come.
 *
 * A static one is declared in a build's `meta` and comes and goes with deployments. A dynamic one is made by an event,
 * `svc:schedule:new`, belongs to its function's project and survives deployments.
 */
import { Schema } from "effect"
import { EnvId, ProjectId, ScheduleId } from "../ids/Ids.ts"
import { JsonText } from "../ids/JsonText.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const Schedule = Schema.Struct({
  /** Of a dynamic one: the id of the event that made it. */
  schedule_id: ScheduleId,
  env_id: EnvId,
  project_id: ProjectId,
  kind: Schema.Literals(["static", "dynamic"]),
  ns: Schema.String,
  var: Schema.String,
  /** The arguments of a dynamic one's function, an array. A static one's function gets the tick instead. */
  args: Schema.NullOr(JsonText),
  /** Null: it fires once, at `next_at`. */
  cron: Schema.NullOr(Schema.String),
  timezone: Schema.String,
  /** The first tick that has neither fired nor been passed over. */
  next_at: Timestamp,
  /** When it is looked at: at `next_at`, or later while the plan's runs are used up. */
  due_at: Timestamp,
  created_at: Timestamp
})
export type Schedule = typeof Schedule.Type

/** How many dynamic schedules an environment may have. */
export const dynamicMax = 10_000

/** What an event does to the dynamic schedules of its environment. */
export type ScheduleChange =
  /** `max`: how many dynamic ones the environment may have, with this one. */
  | { readonly _tag: "Created"; readonly schedule: Schedule; readonly max: number }
  | { readonly _tag: "Cancelled"; readonly env_id: EnvId; readonly by: Cancelled }

/** One schedule, or all those of a function. */
export type Cancelled =
  | { readonly schedule_id: ScheduleId }
  | { readonly project_id: ProjectId; readonly ns: string; readonly var: string }

/** Why a change is not made: there are as many schedules as may be, or none to cancel. */
export type ScheduleRefusal = "too many" | "none"
