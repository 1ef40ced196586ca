/** Records of dead letters, an extension of the specification. */
import { Event, Run } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { sentId } from "./Uuid.ts"
import { Instant } from "./Wire.ts"

export const DeadLetterRecord = Schema.Struct({
  run_id: Run.fields.run_id.annotate({ description: "Run of the last attempt, and id of the letter" }),
  ...Struct.pick(Run.fields, ["event_id", "stream_id"]),
  event_type: example(Event.fields.event_type, "order:created"),
  ...Struct.pick(Run.fields, ["project_id", "build_id"]),
  project_name: example(Run.fields.project_name, "orders"),
  ns: example(Run.fields.ns, "main"),
  var: example(Run.fields.var, "onOrder"),
  run_type: example(Run.fields.run_type, "event"),
  status: example(Run.fields.status, "failed").annotate({
    description: "`failed`, or `cancelled` if it expired before its start"
  }),
  attempt: Run.fields.attempt.annotate({ description: "Number of the last attempt" }),
  start_time: Instant,
  dead_since: Instant,
  error: Schema.NullOr(
    Schema.Struct({
      name: example(Schema.String, "TypeError"),
      message: example(Schema.String, "event.data.items is not iterable")
    })
  ).annotate({ description: "Error of the last attempt; null if it is large: see the result of the run" })
}).annotate({ identifier: "DeadLetter" })

const selected = (description: string, sample: string) =>
  Schema.optionalKey(Schema.String.annotate({ description, examples: [sample] }))

/** Filters of dead letters, in queries and in bodies. */
export const deadLetterFilters = {
  project: selected("Only of this project: its id, or its name when the run started", "orders"),
  fn: selected("Only of this function: `ns/var` or `project:ns/var`", "main/onOrder"),
  event_type: selected("Only of events of this type", "order:created"),
  since: selected("Only letters that are dead since this instant or later", "2026-01-31T00:00:00Z"),
  until: selected("Only letters that are dead since before this instant", "2026-02-01T00:00:00Z")
}

const selection = {
  ids: Schema.optionalKey(
    Schema.Array(sentId(Run.fields.run_id)).annotate({ description: "Only the letters with these ids, 1 to 500" })
  ),
  ...deadLetterFilters,
  dry_run: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "`true` changes nothing, and counts the matching letters",
      examples: [false]
    })
  ),
  cursor: Schema.optionalKey(
    Schema.String.annotate({ description: "The field `next` of the former response, with the same filters" })
  )
}

export const DiscardInput = Schema.Struct(selection).annotate({ identifier: "DeadLetterDiscardInput" })

export const RedriveInput = Schema.Struct({
  ...selection,
  build: Schema.optionalKey(
    Schema.Literals(["same", "deployed"]).annotate({
      description: "`same`, the default: the build of the last attempt; `deployed`: the active build of its project"
    })
  )
}).annotate({ identifier: "DeadLetterRedriveInput" })

const outcome = {
  matched: Schema.optionalKey(
    Schema.Int.annotate({ description: "For a dry run, number of letters that the request would change" })
  ),
  skipped: Schema.Array(
    Schema.Struct({
      reason: example(Schema.String, "no dead letter has this id"),
      count: Schema.Int
    })
  ).annotate({ description: "Letters that stay as they are, by reason" }),
  next: Schema.NullOr(Schema.String).annotate({
    description: "Cursor of the next request if more letters match; null otherwise",
    examples: [null]
  })
}

export const RedrivenRecord = Schema.Struct({ redriven: example(Schema.Int, 42), ...outcome }).annotate({
  identifier: "RedrivenDeadLetters"
})

export const DiscardedRecord = Schema.Struct({ discarded: example(Schema.Int, 42), ...outcome }).annotate({
  identifier: "DiscardedDeadLetters"
})
