/** Records of operations on many runs, an extension of the specification. */
import { Operation, OperationFilter, OperationOptions } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { TimeRange } from "../routes/TimeRange.ts"
import { Instant } from "./Wire.ts"

const projectFilter = example(
  OperationFilter.fields.project.annotate({
    description: "Only of this project: its id, or its name when the runs started"
  }),
  "orders"
)

const fnFilter = example(
  OperationFilter.fields.fn.annotate({ description: "Only of this function: `ns/var` or `project:ns/var`" }),
  "main/onOrder"
)

const filters = {
  status: example(OperationFilter.fields.status, "failed"),
  type: example(OperationFilter.fields.type, "event"),
  waiting: OperationFilter.fields.waiting.annotate({
    description: "Only suspended durable runs that wait for this; `any` for all of them"
  }),
  project: projectFilter,
  fn: fnFilter,
  event_id: OperationFilter.fields.event_id.annotate({ description: "Only runs that this event triggered" }),
  event_type: example(
    OperationFilter.fields.event_type.annotate({ description: "Only runs that events of this type triggered" }),
    "order:created"
  ),
  error: example(
    OperationFilter.fields.error.annotate({
      description:
        "Only failed runs with this text in the name or the message of their error, 1 to 200 characters; ASCII case is ignored. A replay then needs the `status` `failed`"
    }),
    "timeout"
  )
}

const options = {
  build: OperationOptions.fields.build.annotate({
    description:
      "Of a replay or redrive: `same`, the default, is the build of the run; `deployed` the active build of its project"
  }),
  rate: example(
    OperationOptions.fields.rate.annotate({
      description: "Maximum runs per second, 1 to 10,000; without it, as many as the node allows"
    }),
    50
  )
}

const FailureRecord = Schema.Struct({
  run_id: Operation.fields.failures.value.fields.run_id,
  reason: example(Schema.String, 'the build of this run was deleted; use `build: "deployed"`')
}).annotate({ identifier: "OperationFailure" })

export const OperationRecord = Schema.Struct({
  ...Struct.pick(Operation.fields, ["operation_id", "kind"]),
  state: example(Operation.fields.state, "running").annotate({
    description: "`pending` while an older operation of the environment executes"
  }),
  filter: Schema.Struct({ ...filters, since: Schema.optionalKey(Instant) }).annotate({
    identifier: "OperationFilter"
  }),
  options: Schema.Struct(options).annotate({ identifier: "OperationOptions" }),
  total: example(Operation.fields.total, 1200).annotate({
    description: "Number of runs that matched when the operation was created"
  }),
  done: example(Operation.fields.done, 1100).annotate({
    description: "Number of runs that it cancelled, or started again"
  }),
  skipped: example(Operation.fields.skipped, 40).annotate({
    description:
      "Number of runs that needed nothing: they had ended, their delivery was retried or redriven, or they have no event, as webhooks and tools"
  }),
  failed: example(Operation.fields.failed, 0).annotate({ description: "Number of runs that it could not process" }),
  failures: Schema.Array(FailureRecord).annotate({ description: "The newest of these runs; at most 10" }),
  waiting: Operation.fields.waiting.annotate({
    description: "Reason why it does not progress now, such as a limit of the plan; null otherwise"
  }),
  error: Operation.fields.error.annotate({ description: "Reason of the state `failed`; null otherwise" }),
  created_at: Instant,
  created_by: example(Operation.fields.created_by, "api-key 01970d3c-6a20-78bf-a48c-b3d1cf705c10").annotate({
    description: "Type and id of the credential"
  }),
  started_at: Schema.NullOr(Instant),
  ended_at: Schema.NullOr(Instant)
}).annotate({ identifier: "Operation" })

export const NewOperationRecord = Schema.Struct({
  kind: example(Operation.fields.kind, "replay"),
  filter: Schema.optionalKey(
    Schema.Struct({ ...filters, time_range: Schema.optionalKey(TimeRange) }).annotate({
      description:
        "Selects the runs. A replay needs `status`; a cancellation selects running runs only, a redrive dead letters only, whose `time_range` is the time since when they are dead"
    })
  ),
  options: Schema.optionalKey(Schema.Struct(options)),
  dry_run: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "`true` changes nothing, and returns the number of matching runs" })
  )
}).annotate({ identifier: "OperationInput" })

export const OperationPreviewRecord = Schema.Struct({
  matched: example(Schema.Int, 1200)
}).annotate({ identifier: "OperationPreview" })
