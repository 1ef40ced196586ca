/** Messages of subscriptions, as Server-Sent Events (specification, "SSE event kinds"). */
import { RequestKind, RunStatus } from "@weft/core/adapter"
import { Schema } from "effect"
import { WaitingRecord } from "./WorkflowRecords.ts"

const id = Schema.optionalKey(
  Schema.String.annotate({ description: "Position for Last-Event-ID, to resume after this message" })
)

const uuid = Schema.String.annotate({ format: "uuid" })

const message = <const Name extends string, Fields extends Schema.Struct.Fields>(
  names: ReadonlyArray<Name>,
  fields: Fields
) => Schema.Struct({ id, event: Schema.Literals(names), data: Schema.fromJsonString(Schema.Struct(fields)) })

/** A recorded result of a durable run, an extension. */
const stepFields = {
  run_id: uuid,
  position: Schema.Int,
  kind: RequestKind,
  name: Schema.String,
  ok: Schema.Boolean,
  attempts: Schema.Int,
  ms: Schema.Int.annotate({ description: "Milliseconds from the start of the request to its result" })
}

const eventFields = { event_id: uuid, stream_id: uuid, event_type: Schema.String }

/** A message about the runs, events and streams of an environment. */
export const EnvMessage = Schema.Union([
  message(["run:start"], { run_id: uuid, stream_id: uuid, run_type: Schema.String }),
  message(["run:stop", "run:fail", "run:cancel"], { run_id: uuid, stream_id: uuid }),
  message(["run:step"], { ...stepFields, stream_id: uuid }),
  message(["run:waiting"], { run_id: uuid, stream_id: uuid, waiting: WaitingRecord }),
  message(["event:created", "event:handled"], eventFields),
  message(["stream:created"], { stream_id: uuid })
]).annotate({ identifier: "EnvironmentMessage" })

const runChange = {
  run: Schema.Struct({
    run_id: uuid,
    status: RunStatus,
    result: Schema.optionalKey(Schema.Json.annotate({ description: "Present when the run has ended" }))
  })
}

const streamMessages = [
  message(["run:start", "run:stop", "run:fail", "run:cancel"], {
    type: Schema.Literals(["run:start", "run:stop", "run:fail", "run:cancel"]),
    ...runChange
  }),
  message(["run:step"], { type: Schema.Literal("run:step"), ...stepFields }),
  message(["run:waiting"], { type: Schema.Literal("run:waiting"), run_id: uuid, waiting: WaitingRecord }),
  message(["stream:data"], {
    type: Schema.Literal("stream:data"),
    run_id: uuid,
    data_type: Schema.String,
    payload: Schema.Json
  }),
  message(["stream:complete"], { type: Schema.Literal("stream:complete") })
] as const

/** A message about a stream. */
export const StreamMessage = Schema.Union(streamMessages).annotate({ identifier: "StreamMessage" })

/** A `StreamMessage`, or the first message with the published event. */
export const WatchedMessage = Schema.Union([
  message(["event:published"], { type: Schema.Literal("event:published"), ...eventFields }),
  ...streamMessages
]).annotate({ identifier: "WatchedMessage" })
