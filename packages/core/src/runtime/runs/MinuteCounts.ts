/** Ended runs of one function in one minute, as one node counted them. */
import { Schema } from "effect"
import { EnvId, NodeId, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

/** Length of a row's period in milliseconds. */
export const minuteMs = 60_000

/** Time for which the counts are kept, in milliseconds. */
export const seriesRetentionMs = 30 * 24 * 3_600_000

export const MinuteCounts = Schema.Struct({
  env_id: EnvId,
  /** Start of the minute. */
  at: Timestamp,
  /** Null for the functions beyond the maximum of an environment, which share a row. */
  project_id: Schema.NullOr(ProjectId),
  /** Name of the project at that time; empty without a project. */
  project_name: Schema.String,
  ns: Schema.String,
  var: Schema.String,
  node_id: NodeId,
  succeeded: Schema.Int,
  /** All failed runs, with those that another attempt follows. */
  failed: Schema.Int,
  cancelled: Schema.Int,
  /** Failed runs that another attempt follows. */
  retried: Schema.Int,
  /** Times from the event, or from the due time of a later attempt, to the start, as `LatencyHistogram`. */
  wait: Schema.String,
  /** Times from the start to the end of succeeded and failed runs, as `LatencyHistogram`. */
  duration: Schema.String
})
export type MinuteCounts = typeof MinuteCounts.Type

/** Returns the start of the minute of an instant. */
export const toMinute = (instant: number): Timestamp =>
  Timestamp.make(instant - (instant % minuteMs), { disableChecks: true })
