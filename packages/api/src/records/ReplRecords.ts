/** Records of sessions that evaluate inputs, an extension of the specification. */
import { type LogEntry, ReplId, type Run, Run as RunSchema } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { EvaluationRecord } from "./EvaluationRecord.ts"
import { Instant } from "./Wire.ts"

export const ReplRecord = Schema.Struct({
  repl_id: ReplId,
  ...Struct.pick(RunSchema.fields, ["env_id"]),
  project_name: Schema.NullOr(Schema.String).annotate({
    description: "Project of the build of its context; null without one",
    examples: [null]
  }),
  build_id: Schema.NullOr(Schema.String).annotate({ examples: [null] }),
  created_at: Instant,
  expires_at: Instant.annotate({
    description: "Time at which it ends with its variables, unless an input comes first"
  }),
  inputs: Schema.Int.annotate({ description: "Number of inputs so far", examples: [2] }),
  busy: Schema.Boolean.annotate({ description: "True while it evaluates an input", examples: [false] })
}).annotate({ identifier: "ReplSession" })

export const NewReplRecord = Schema.Struct({
  project: Schema.optionalKey(
    Schema.String.annotate({
      description: "Project whose build inputs can use as `build` or `weft:build`, with its secrets; without it none",
      examples: ["orders"]
    })
  ),
  build_id: Schema.optionalKey(
    Schema.String.annotate({ description: "Build of the project; `deployed` by default", examples: ["deployed"] })
  )
}).annotate({ identifier: "ReplSessionInput" })

export const ReplInputRecord = Schema.Struct({
  source: Schema.String.annotate({
    description: "Statements and expressions of TypeScript or JavaScript, with `await` at the top level",
    examples: ["const total = 1 + 2; total"]
  }),
  timeout: example(
    Schema.optionalKey(Schema.Number.annotate({ description: "Seconds, above 0 and at most 60; 30 by default" })),
    5
  )
}).annotate({ identifier: "ReplInput" })

export const ReplResultRecord = Schema.Struct({
  ...EvaluationRecord.fields,
  run_type: example(RunSchema.fields.run_type, "repl"),
  text: Schema.String.annotate({
    description: "The result for people, also if JSON cannot represent it; empty without a result",
    examples: ["3"]
  }),
  ended: Schema.NullOr(Schema.String).annotate({
    description: "Reason for the end of the session, whose variables are gone; null if it continues",
    examples: [null]
  })
}).annotate({ identifier: "ReplResult" })

export const CompletionInputRecord = Schema.Struct({
  source: Schema.String.annotate({ examples: ["svc.ev"] }),
  cursor: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "Position in the source, in UTF-16 units",
    examples: [6]
  })
}).annotate({ identifier: "ReplCompletionInput" })

export const CompletionRecord = Schema.Struct({
  from: Schema.Int.annotate({ description: "Start of the text that a candidate replaces", examples: [4] }),
  candidates: Schema.Array(Schema.String).annotate({ examples: [["events"]] })
}).annotate({ identifier: "ReplCompletion" })

/** Returns the record of an input at its end. */
export const toReplResult = (
  run: Run,
  logs: ReadonlyArray<LogEntry>,
  { text, ended }: { readonly text: string; readonly ended: string | null }
): typeof ReplResultRecord.Type => ({ ...run, logs, text, ended })
