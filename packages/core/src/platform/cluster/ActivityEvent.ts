/** Live activity of an environment. Names are those of the specification's SSE messages. */
import { Schema } from "effect"
import { EnvId, EventId, ProjectId, RunId, StreamId } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"

const run = {
  env_id: EnvId,
  run_id: RunId,
  stream_id: StreamId,
  run_type: Schema.String,
  project_id: ProjectId,
  /** The project's name when the run started. */
  project_name: Schema.String
}

export const ActivityEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("run:start"), ...run }),
  Schema.Struct({ type: Schema.Literals(["run:stop", "run:fail", "run:cancel"]), ...run, result: JsonText }),
  /** A result of a durable run was recorded. */
  Schema.Struct({
    type: Schema.Literal("run:step"),
    ...run,
    /** Position among the results of the run, from 0. */
    position: Schema.Int,
    kind: Schema.String,
    name: Schema.String,
    ok: Schema.Boolean,
    attempts: Schema.Int,
    /** Milliseconds from the start of the request to its result. */
    ms: Schema.Int
  }),
  /** A durable run was suspended. `waiting` is that of the run. */
  Schema.Struct({ type: Schema.Literal("run:waiting"), ...run, waiting: JsonText }),
  Schema.Struct({
    type: Schema.Literals(["event:created", "event:handled"]),
    env_id: EnvId,
    event_id: EventId,
    stream_id: StreamId,
    event_type: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("stream:created"), env_id: EnvId, stream_id: StreamId }),
  /** A message that a run emits to the subscribers of its stream. */
  Schema.Struct({ type: Schema.Literal("stream:data"), ...run, data_type: Schema.String, payload: JsonText })
])
export type ActivityEvent = typeof ActivityEvent.Type
