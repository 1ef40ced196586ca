/** Records of counts and latencies over time, an extension of the specification. */
import { FunctionSeries, Percentiles, RunCounts } from "@weft/core/adapter"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const PercentilesRecord = Schema.Struct({
  p50_ms: example(Percentiles.fields.p50_ms, 21.06),
  p95_ms: example(Percentiles.fields.p95_ms, 45.15),
  p99_ms: example(Percentiles.fields.p99_ms, 60.09)
}).annotate({ identifier: "Percentiles" })

const countFields = {
  succeeded: example(RunCounts.fields.succeeded, 41),
  failed: example(RunCounts.fields.failed, 2).annotate({
    description: "Failed runs, with those that another attempt follows"
  }),
  cancelled: RunCounts.fields.cancelled,
  retried: example(RunCounts.fields.retried, 1).annotate({
    description: "Failed runs that another attempt follows"
  }),
  wait: Schema.NullOr(PercentilesRecord).annotate({
    description:
      "Times from the event, or from the due time of a later attempt, to the start, within 5 %; null if no run waited"
  }),
  duration: Schema.NullOr(PercentilesRecord).annotate({
    description: "Times from the start to the end of succeeded and failed runs, within 5 %; null without one"
  })
}

const FunctionSeriesRecord = Schema.Struct({
  project_id: FunctionSeries.fields.project_id.annotate({
    description: "Null for the sum of all functions without a series of their own"
  }),
  project_name: example(FunctionSeries.fields.project_name, "orders"),
  ns: example(FunctionSeries.fields.ns, "main"),
  var: example(FunctionSeries.fields.var, "onOrder"),
  total: Schema.Struct(countFields).annotate({ identifier: "RunCounts", description: "The whole period" }),
  points: Schema.Array(
    Schema.Struct({ time: Instant, ...countFields }).annotate({ identifier: "SeriesPoint" })
  ).annotate({ description: "Steps in which runs started or ended, in their order" })
}).annotate({ identifier: "FunctionSeries" })

export const RunSeriesRecord = Schema.Struct({
  from: Instant,
  to: Instant,
  step_seconds: example(Schema.Int, 60),
  series: Schema.Array(FunctionSeriesRecord).annotate({
    description: "Of the 20 functions with the most ended runs, and last the sum of the others"
  })
}).annotate({ identifier: "RunSeries" })
