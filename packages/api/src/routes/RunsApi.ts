/** Runs, their logs and their resource usage. */
import { EventId, RunId, RunStatus, RunType, WaitingFor } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { StepList } from "../envelope/StepList.ts"
import { NotFoundError, PlanRequiredError, TokenCompletedError, TokenExpiredError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import {
  CancelledRunsRecord,
  LogEntryRecord,
  RunActivityRecord,
  RunRecord,
  RunStatsRecord,
  RunUsageRecord
} from "../records/Records.ts"
import { sentDuration, sentInstant } from "../records/SentTime.ts"
import { RunSeriesRecord } from "../records/SeriesRecords.ts"
import { CompletedTokenRecord, TokenCompletionInput } from "../records/TokenRecords.ts"
import { pathId, sentId } from "../records/Uuid.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { startedRunResponses } from "./CallsApi.ts"
import { extension, summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { TimeRange } from "./TimeRange.ts"

export const RunList = List("RunList", RunRecord)

const runParams = { run_id: pathId(RunId) }

const include = Schema.optionalKey(
  Schema.Literal("usage").annotate({
    description: "Extension: `usage` adds the function, attempt and resource usage to each run"
  })
)

const CancelInput = Schema.Struct({
  cleanup: Schema.optionalKey(
    Schema.Union([Schema.Boolean, Schema.String]).annotate({
      description:
        "Time in which a durable run may clean up before it ends: `true` for 30 seconds, or a duration of at most 5 minutes. Without it, the run ends at once"
    })
  )
}).annotate({ identifier: "CancelInput" })

const ReplayInput = Schema.Struct({
  event_data: Schema.optionalKey(
    SentJson.annotate({
      description:
        "Other data: the new run has an event of its own, of the same type and on the same stream. Not together with `from`",
      examples: [{ order: 1042, total: 21 }]
    })
  )
}).annotate({ identifier: "ReplayInput" })

export class RunsApi extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/v1/runs", {
      query: {
        ...pageQuery,
        status: example(Schema.optionalKey(RunStatus), "succeeded"),
        type: example(Schema.optionalKey(RunType), "event"),
        time_range: Schema.optionalKey(TimeRange),
        waiting: Schema.optionalKey(
          Schema.Literals([...WaitingFor.literals, "any"]).annotate({
            description: "Extension: only suspended durable runs that wait for this; `any` for all of them"
          })
        ),
        project: Schema.optionalKey(
          Schema.String.annotate({
            description: "Extension: only runs of the project with this id, or with this name at that time",
            examples: ["shop"]
          })
        ),
        fn: Schema.optionalKey(
          Schema.String.annotate({
            description: "Extension: only runs of this function, `ns/var` or `project:ns/var`",
            examples: ["orders/charge"]
          })
        ),
        error: Schema.optionalKey(
          Schema.String.annotate({
            description:
              "Extension: only failed runs with this text in the name or the message of their error, 1 to 200 characters; ASCII case is ignored",
            examples: ["timeout"]
          })
        ),
        preview: Schema.optionalKey(
          Schema.String.annotate({
            description: "Extension: the runs of this preview, instead of those of the environment",
            examples: ["pr-42"]
          })
        ),
        before: Schema.optionalKey(
          sentId(RunId).annotate({
            description: "Extension: only runs that are older than the run with this id, for pages without `offset`"
          })
        ),
        include
      },
      success: RunList
    })
      .annotateMerge(summary("List runs, newest first"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("stats", "/v1/runs/stats", {
      success: Single("RunStatsResponse", RunStatsRecord)
    })
      .annotateMerge(summary("Count runs by status"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("activity", "/v1/runs/activity", {
      query: { time_range: Schema.optionalKey(TimeRange) },
      success: Single("RunActivityResponse", RunActivityRecord)
    })
      .annotateMerge(
        extension(
          "Count runs of the last hour, or of the time range, by minute and outcome, with their durations and failures"
        )
      )
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("series", "/v1/runs/series", {
      query: {
        project: Schema.optionalKey(Schema.String.annotate({ description: "Only this project: its id or its name" })),
        fn: Schema.optionalKey(
          Schema.String.annotate({
            description: "Only this function: `ns/var` with `project`, or `project:ns/var`"
          })
        ),
        from: Schema.optionalKey(sentInstant("Start of the period; by default, one hour before its end")),
        to: Schema.optionalKey(sentInstant("End of the period; now by default")),
        step: Schema.optionalKey(
          sentDuration(
            "Length of a step, such as `5m`: whole minutes, at most a day. By default, the period has at most 240 steps, and at most 1,500 are possible"
          )
        )
      },
      success: Single("RunSeriesResponse", RunSeriesRecord),
      error: NotFoundError
    })
      .annotateMerge(
        extension(
          "Count the ended runs of each function by step, with percentiles of their waits and durations. Counts are at most 10 s old, and are kept for 30 days"
        )
      )
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("get", "/v1/runs/:run_id", {
      params: runParams,
      success: Single("RunResponse", RunRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("Get a run"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("logs", "/v1/runs/:run_id/logs", {
      params: runParams,
      query: pageQuery,
      success: List("LogEntryList", LogEntryRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("List the log of a run, in the order of logging"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("steps", "/v1/runs/:run_id/steps", {
      params: runParams,
      query: pageQuery,
      success: StepList,
      error: NotFoundError
    })
      .annotateMerge(extension("List the recorded results of a durable run in their order, with its open waits"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("usage", "/v1/runs/:run_id/usage", {
      params: runParams,
      success: Single("RunUsageResponse", RunUsageRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Get the function, attempt and resource usage of a run: CPU time, wall time, heap"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.post("cancelAll", "/v1/runs/cancel", {
      query: {
        type: example(Schema.optionalKey(RunType), "event"),
        time_range: Schema.optionalKey(TimeRange),
        event_id: Schema.optionalKey(
          sentId(EventId).annotate({
            description: "Only runs that this event triggered"
          })
        )
      },
      success: Single("CancelledRunsResponse", CancelledRunsRecord)
    })
      .annotateMerge(extension("Cancel all running runs that match the filters"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource" })),
    HttpApiEndpoint.post("cancel", "/v1/runs/:run_id/cancel", {
      params: runParams,
      // The body may be empty.
      payload: [CancelInput, HttpApiSchema.NoContent],
      success: Single("RunResponse", RunRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Cancel a running run permanently, without retries"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource" })),
    HttpApiEndpoint.post("wake", "/v1/runs/:run_id/wake", {
      params: runParams,
      success: Single("RunResponse", RunRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("End the sleep or the retry pause of a suspended durable run, so that it continues now"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource", audit: "run.wake" })),
    HttpApiEndpoint.post("completeToken", "/v1/runs/:run_id/tokens/:name", {
      params: {
        ...runParams,
        name: Schema.String.annotate({ description: "Name of the token", examples: ["approval"] })
      },
      payload: TokenCompletionInput,
      success: Single("CompletedTokenResponse", CompletedTokenRecord),
      error: [NotFoundError, TokenCompletedError, TokenExpiredError]
    })
      .annotateMerge(extension("Complete the token of a durable run with this name, of several the last one"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource" })),
    HttpApiEndpoint.post("replay", "/v1/runs/:run_id/replay", {
      params: runParams,
      query: {
        build: Schema.optionalKey(
          Schema.Literals(["same", "deployed"]).annotate({
            description: "`same`, the default: the build of the run; `deployed`: the active build of its project"
          })
        ),
        from: Schema.optionalKey(
          Schema.String.check(Schema.isNonEmpty()).annotate({
            description:
              "Name or position of a step or wait of an ended durable run: the new run has the results before it"
          })
        )
      },
      // The body may be empty.
      payload: [ReplayInput, HttpApiSchema.NoContent],
      success: startedRunResponses,
      error: [PlanRequiredError, NotFoundError]
    })
      .annotateMerge(
        extension("Run a function again for the same event; returns the new run, or 202 with the event if it is queued")
      )
      .annotateMerge(requires({ type: "call", action: "create", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Runs", "Single attempts to execute one function")) {}
