/** The run of an evaluation at its end, with its log. */
import { type LogEntry, Run } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { LogEntryRecord, RunRecord, RunUsageRecord } from "./Records.ts"

export const EvaluationRecord = Schema.Struct({
  ...Struct.pick(RunRecord.fields, [
    "run_id",
    "env_id",
    "stream_id",
    "project_id",
    "build_id",
    "start_time",
    "stop_time",
    "result"
  ]),
  run_type: example(Run.fields.run_type, "eval"),
  status: example(Run.fields.status, "succeeded"),
  ...Struct.pick(RunUsageRecord.fields, ["cpu_ms", "wall_ms", "heap_bytes"]),
  logs: Schema.Array(LogEntryRecord)
}).annotate({ identifier: "Evaluation" })

/** Returns the record of an evaluation. */
export const toEvaluationRecord = (run: Run, logs: ReadonlyArray<LogEntry>): typeof EvaluationRecord.Type => ({
  ...run,
  logs
})
