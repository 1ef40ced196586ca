/**
 * A run: one attempt at executing one function.
 *
 *     running --(Outcome)--> succeeded | failed | cancelled
 *
 * Terminal states are final. A retry applies to the delivery; each attempt is a run of its own.
 */
import { Schema } from "effect"
import { BuildId, EnvId, EventId, NodeId, ProjectId, RunId, StreamId } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

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
  /** Run of the first attempt; for a first attempt the run that caused this one, if any. */
  origin_run_id: Schema.NullOr(RunId),
  event_id: Schema.NullOr(EventId),
  /** Ids of the events of its batch as JSON text, of which `event_id` is the first; null for a single event. */
  event_ids: Schema.NullOr(JsonText),
  /** Number of the attempt, from 1; a run that was lost with its node does not count. */
  attempt: Schema.Int,
  /** Null while running. */
  result: Schema.NullOr(JsonText),
  /** Node that executes it. */
  node_id: NodeId,
  cpu_ms: Schema.NullOr(Schema.Number),
  wall_ms: Schema.NullOr(Schema.Number),
  heap_bytes: Schema.NullOr(Schema.Int),
  /** Times that a durable run entered an isolate, from 1; null for other runs. */
  activations: Schema.NullOr(Schema.Int),
  /** The wait of a suspended run as `Waiting`; null while it is active, and after its end. */
  waiting: Schema.NullOr(JsonText),
  /** Number of recorded results of a durable run; null for other runs. */
  steps: Schema.NullOr(Schema.Int)
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
  /** Number in the order of logging, from 0. */
  seq: Schema.Int,
  time: Timestamp,
  level: Schema.Literals(["debug", "info", "warn", "error"]),
  message: Schema.String,
  data: Schema.NullOr(JsonText)
})
export type LogEntry = typeof LogEntry.Type
