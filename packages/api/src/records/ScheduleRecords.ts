/** Wire format of dynamic schedules, an extension of the specification. */
import { Schedule } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, jsonValue } from "./Wire.ts"

/** A schedule of a build or of a function, with its next ticks. */
export const UpcomingTicksRecord = Schema.Struct({
  ...Struct.pick(Schedule.fields, ["schedule_id", "project_id", "kind"]),
  ns: example(Schedule.fields.ns, "main"),
  var: example(Schedule.fields.var, "onOrder"),
  cron: example(Schedule.fields.cron, "0 3 * * *"),
  timezone: Schedule.fields.timezone,
  next_at: Instant,
  ticks: Schema.Array(Instant).annotate({ description: "Ticks of the period, ascending, at most 50" }),
  more: Schema.Boolean.annotate({ description: "True if the period has further ticks" })
}).annotate({ identifier: "UpcomingTicks" })

export const DynamicScheduleRecord = Schema.Struct({
  ...Struct.pick(Schedule.fields, ["schedule_id", "project_id"]),
  ns: example(Schedule.fields.ns, "main"),
  var: example(Schedule.fields.var, "onOrder"),
  args: Schema.NullOr(jsonValue([1, 2])),
  cron: example(Schedule.fields.cron, "0 3 * * *"),
  timezone: Schedule.fields.timezone,
  next_at: Instant,
  created_at: Instant
}).annotate({ identifier: "DynamicSchedule" })
