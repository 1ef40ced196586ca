/**
 * A run: one attempt at executing one function.
 *
 *     running --(Outcome)--> succeeded | failed | cancelled
 *
 * Terminal states are final. What is tried again is the delivery; each attempt is a run of its own.
 */
import { Schema } from "effect"
import { BuildId, EnvId, EventId, NodeId, ProjectId, RunId, StreamId } from "../ids/Ids.ts"
import { JsonText } from "../ids/JsonText.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const RunType = Schema.Literals(["call", "event", "schedule", "run", "eval", "repl"])
export type RunType = typeof RunType.Type

export const RunStatus = Schema.Literals(["running", "succeeded", "failed", "cancelled"])
export type RunStatus = typeof RunStatus.Type

export const Run = Schema.Struct({
  run_id: RunId,
  env_id: EnvId,
  stream_id: StreamId,
  project_id: ProjectId,
  /** The project's name when the run started. */
  project_name: Schema.String,
  build_id: BuildId,
  ns: Schema.String,
  var: Schema.String,
  run_type: RunType,
  status: RunStatus,
  start_time: Timestamp,
  stop_time: Schema.NullOr(Timestamp),
  /** The first attempt's run; on a first attempt the run that caused this one, if any. */
  origin_run_id: Schema.NullOr(RunId),
  event_id: Schema.NullOr(EventId),
  /** From 1; a run lost with its node does not count. */
  attempt: Schema.Int,
  /** Null while running. */
  result: Schema.NullOr(JsonText),
  /** The process that runs it. */
  node_id: NodeId,
  cpu_ms: Schema.NullOr(Schema.Number),
  wall_ms: Schema.NullOr(Schema.Number),
  heap_bytes: Schema.NullOr(Schema.Int)
})
export type Run = typeof Run.Type

export const RunStats = Schema.Struct({
  total_runs: Schema.Int,
  running: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int
})
export type RunStats = typeof RunStats.Type

export const LogEntry = Schema.Struct({
  /** From 0, in the order of logging. */
  seq: Schema.Int,
  time: Timestamp,
  level: Schema.Literals(["debug", "info", "warn", "error"]),
  message: Schema.String,
  data: Schema.NullOr(JsonText)
})
export type LogEntry = typeof LogEntry.Type
