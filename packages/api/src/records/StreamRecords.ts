/** The messages of subscriptions (specification, "SSE event kinds"), as Server-Sent Events carry them. */
import { RunStatus } from "@weft/core"
import { Schema } from "effect"

const id = Schema.optionalKey(Schema.String.annotate({ description: "For Last-Event-ID: where to go on from" }))

const uuid = Schema.String.annotate({ format: "uuid" })

const message = <const Name extends string, Fields extends Schema.Struct.Fields>(
  names: ReadonlyArray<Name>,
  fields: Fields
) => Schema.Struct({ id, event: Schema.Literals(names), data: Schema.fromJsonString(Schema.Struct(fields)) })

const ofStream = { event_id: uuid, stream_id: uuid, event_type: Schema.String }

/** What happens in an environment. */
export const EnvMessage = Schema.Union([
  message(["run:start"], { run_id: uuid, stream_id: uuid, run_type: Schema.String }),
  message(["run:stop", "run:fail", "run:cancel"], { run_id: uuid, stream_id: uuid }),
  message(["event:created", "event:handled"], ofStream),
  message(["stream:created"], { stream_id: uuid })
]).annotate({ identifier: "EnvironmentMessage" })

const runChange = {
  run: Schema.Struct({
    run_id: uuid,
    status: RunStatus,
    result: Schema.optionalKey(Schema.Json.annotate({ description: "When it is done" }))
  })
}

const streamMessages = [
  message(["run:start", "run:stop", "run:fail", "run:cancel"], {
    type: Schema.Literals(["run:start", "run:stop", "run:fail", "run:cancel"]),
    ...runChange
  }),
  message(["stream:data"], {
    type: Schema.Literal("stream:data"),
    run_id: uuid,
    data_type: Schema.String,
    payload: Schema.Json
  }),
  message(["stream:complete"], { type: Schema.Literal("stream:complete") })
] as const

/** What happens in a stream. */
export const StreamMessage = Schema.Union(streamMessages).annotate({ identifier: "StreamMessage" })

/** As `StreamMessage`, after the event that was published. */
export const WatchedMessage = Schema.Union([
  message(["event:published"], { type: Schema.Literal("event:published"), ...ofStream }),
  ...streamMessages
]).annotate({ identifier: "WatchedMessage" })
