/** Runs, their logs and what they used. */
import { RunStatus, RunType } from "@weft/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { CancelledRunsRecord, LogEntryRecord, RunRecord, RunStatsRecord, RunUsageRecord } from "../records/Records.ts"
import { SentUuid } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { begun } from "./CallsApi.ts"
import { extension, summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { TimeRange } from "./TimeRange.ts"

export const RunList = List("RunList", RunRecord)

const runParams = { run_id: Schema.String }

export class RunsApi extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/v1/runs", {
      query: {
        ...pageQuery,
        status: Schema.optionalKey(RunStatus),
        type: Schema.optionalKey(RunType),
        time_range: Schema.optionalKey(TimeRange)
      },
      success: RunList
    }).annotateMerge(summary("List runs, newest first")),
    HttpApiEndpoint.get("stats", "/v1/runs/stats", {
      success: Single("RunStatsResponse", RunStatsRecord)
    }).annotateMerge(summary("Count runs by status")),
    HttpApiEndpoint.get("get", "/v1/runs/:run_id", {
      params: runParams,
      success: Single("RunResponse", RunRecord),
      error: NotFoundError
    }).annotateMerge(summary("Get a run")),
    HttpApiEndpoint.get("logs", "/v1/runs/:run_id/logs", {
      params: runParams,
      query: pageQuery,
      success: List("LogEntryList", LogEntryRecord),
      error: NotFoundError
    }).annotateMerge(extension("List the log of a run, in the order of logging")),
    HttpApiEndpoint.get("usage", "/v1/runs/:run_id/usage", {
      params: runParams,
      success: Single("RunUsageResponse", RunUsageRecord),
      error: NotFoundError
    }).annotateMerge(
      extension("Which function a run was of, which attempt, and what it used: processor time, wall time, heap")
    ),
    HttpApiEndpoint.post("cancelAll", "/v1/runs/cancel", {
      query: {
        type: Schema.optionalKey(RunType),
        time_range: Schema.optionalKey(TimeRange),
        event_id: Schema.optionalKey(
          SentUuid.annotate({
            description: "Only runs that this event set off"
          })
        )
      },
      success: Single("CancelledRunsResponse", CancelledRunsRecord)
    }).annotateMerge(extension("Cancel all running runs that the filters mean")),
    HttpApiEndpoint.post("cancel", "/v1/runs/:run_id/cancel", {
      params: runParams,
      success: Single("RunResponse", RunRecord),
      error: NotFoundError
    }).annotateMerge(extension("Cancel a running run, for good: nothing is tried again")),
    HttpApiEndpoint.post("replay", "/v1/runs/:run_id/replay", {
      params: runParams,
      query: {
        build: Schema.optionalKey(
          Schema.Literals(["same", "deployed"]).annotate({
            description: "The build of the run (the default), or the one that serves its project now"
          })
        )
      },
      success: begun,
      error: [PlanRequiredError, NotFoundError]
    }).annotateMerge(
      extension("Run a function again for the same event: the new run, or 202 with the event if it has not begun yet")
    )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Runs", "Single attempts at executing one function")) {}
