/** Records of recordings of runs, an extension of the specification. */
import { RecordingContents, RecordingSummary, type RunRecording } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const fields = RecordingSummary.fields

const summary = {
  ...Struct.pick(fields, ["run_id", "env_id", "project_id", "build_id"]),
  project_name: example(fields.project_name, "orders"),
  ns: example(fields.ns, "main"),
  var: example(fields.var, "onOrder"),
  run_type: example(fields.run_type, "event"),
  status: example(fields.status, "succeeded"),
  start_time: Instant,
  expires_at: Instant,
  host_calls: Schema.Boolean.annotate({ description: "True if the host calls of the run were recorded" }),
  truncated: example(Schema.Boolean, false).annotate({
    description: "True if the run made more host calls than were recorded"
  }),
  length: example(fields.length, 1_204).annotate({ description: "Characters of the recorded texts" })
}

export const RecordingRecord = Schema.Struct(summary).annotate({ identifier: "Recording" })

const { input } = RecordingContents.fields

const RecordedInputRecord = Schema.Struct({
  trigger: input.fields.trigger.annotate({ description: "Property of `svc` that is the argument of the function" }),
  svc: example(input.fields.svc, '{"run":{},"event":{}}').annotate({
    description: "JSON text of the facts that become `svc`"
  }),
  body: example(input.fields.body, null).annotate({ description: "Body of the request of a webhook" }),
  timeout_ms: example(input.fields.timeout_ms, 300_000),
  replay: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({
      description: "JSON texts of the results before the last activation of a durable run",
      examples: [['[0,true,1769860800000,{"receipt":"r-1042"}]']]
    })
  )
}).annotate({ identifier: "RecordedInput" })

const RecordedCallRecord = Schema.Struct({
  op: Schema.String.annotate({ description: "Name of the operation", examples: ["events.publish"] }),
  args: Schema.String.annotate({
    description: "JSON text of the arguments",
    examples: ['{"type":"order:priced","data":{"id":"7"}}']
  }),
  answer: example(Schema.NullOr(Schema.String), '{"event_type":"order:priced"}').annotate({
    description: "JSON text of the answer; null if the call failed, or has no recorded end"
  }),
  error: example(Schema.NullOr(Schema.Struct({ name: Schema.String, message: Schema.String })), null).annotate({
    description: "Error of the call; null if it succeeded, or has no recorded end"
  }),
  ended: example(Schema.NullOr(Schema.Int), 0).annotate({
    description: "Number in the order in which the calls ended, from 0; null without a recorded end"
  })
}).annotate({ identifier: "RecordedCall" })

export const RunRecordingRecord = Schema.Struct({
  ...summary,
  input: RecordedInputRecord,
  calls: Schema.Array(RecordedCallRecord).annotate({ description: "In the order in which the run made them" }),
  result: Schema.String.annotate({ description: "JSON text of the result of the run", examples: ['{"total":42}'] }),
  redact: Schema.Array(Schema.String).annotate({
    description: "Fields whose values were not recorded",
    examples: [["card.number"]]
  })
}).annotate({ identifier: "RunRecording" })

/** Returns the record of a recording in a list. */
export const toRecordingRecord = (recording: RecordingSummary): typeof RecordingRecord.Type => ({
  ...recording,
  host_calls: recording.host_calls === 1,
  truncated: recording.truncated === 1
})

/** Returns the record of a recording with its contents. */
export const toRunRecordingRecord = (recording: RunRecording): typeof RunRecordingRecord.Type => ({
  ...recording,
  host_calls: recording.host_calls === 1,
  truncated: recording.truncated === 1
})
