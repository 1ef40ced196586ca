/** Dynamic schedules, as extensions of the specification tell of them. */
import { Schedule } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant, JsonValue } from "./Wire.ts"

export const DynamicScheduleRecord = Schema.Struct({
  ...Struct.pick(Schedule.fields, ["schedule_id", "project_id", "ns", "var"]),
  args: Schema.NullOr(JsonValue),
  ...Struct.pick(Schedule.fields, ["cron", "timezone"]),
  next_at: Instant,
  created_at: Instant
}).annotate({ identifier: "DynamicSchedule" })
