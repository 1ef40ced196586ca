/** The methods of `runs`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type {
  CancelInput,
  RunsActivityQuery,
  RunsCancelAllQuery,
  RunsListQuery,
  RunsReplayQuery,
  RunsSeriesQuery,
  TokenCompletionInput
} from "./Inputs.ts"
import type {
  CancelledRuns,
  CompletedToken,
  Event,
  LogEntry,
  Run,
  RunActivity,
  RunSeries,
  RunStats,
  RunStep,
  RunUsage,
  RunWait
} from "./Records.ts"

export class RunsEndpoints extends Endpoints {
  /** List runs, newest first. `GET /v1/runs` */
  list(query: RunsListQuery = {}, options: RequestOptions = {}): Pages<Run> {
    return this.caller.list("/v1/runs", options, query)
  }

  /** Count runs by status. `GET /v1/runs/stats` */
  stats(options: RequestOptions = {}): Promise<RunStats> {
    return this.caller.one("GET", "/v1/runs/stats", options)
  }

  /** Count runs of the last hour, or of the time range, by minute and outcome, with their durations and failures. `GET /v1/runs/activity` */
  activity(query: RunsActivityQuery = {}, options: RequestOptions = {}): Promise<RunActivity> {
    return this.caller.one("GET", "/v1/runs/activity", options, { query })
  }

  /** Count the ended runs of each function by step, with percentiles of their waits and durations. Counts are at most 10 s old, and are kept for 30 days. `GET /v1/runs/series` */
  series(query: RunsSeriesQuery = {}, options: RequestOptions = {}): Promise<RunSeries> {
    return this.caller.one("GET", "/v1/runs/series", options, { query })
  }

  /** Get a run. `GET /v1/runs/{run_id}` */
  get(runId: string, options: RequestOptions = {}): Promise<Run> {
    return this.caller.one("GET", path`/v1/runs/${runId}`, options)
  }

  /** List the log of a run, in the order of logging. `GET /v1/runs/{run_id}/logs` */
  logs(runId: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<LogEntry> {
    return this.caller.list(path`/v1/runs/${runId}/logs`, options, query)
  }

  /** List the recorded results of a durable run in their order, with its open waits. `GET /v1/runs/{run_id}/steps` */
  steps(
    runId: string,
    query: PageQuery = {},
    options: RequestOptions = {}
  ): Pages<RunStep, { readonly waits: ReadonlyArray<RunWait> }> {
    return this.caller.listWith(
      path`/v1/runs/${runId}/steps`,
      options,
      query,
      ({ waits }: { readonly waits: ReadonlyArray<RunWait> }) => ({ waits })
    )
  }

  /** Get the function, attempt and resource usage of a run: CPU time, wall time, heap. `GET /v1/runs/{run_id}/usage` */
  usage(runId: string, options: RequestOptions = {}): Promise<RunUsage> {
    return this.caller.one("GET", path`/v1/runs/${runId}/usage`, options)
  }

  /** Cancel all running runs that match the filters. `POST /v1/runs/cancel` */
  cancelAll(query: RunsCancelAllQuery = {}, options: RequestOptions = {}): Promise<CancelledRuns> {
    return this.caller.one("POST", "/v1/runs/cancel", options, { query })
  }

  /** Cancel a running run permanently, without retries. `POST /v1/runs/{run_id}/cancel` */
  cancel(runId: string, input: CancelInput = {}, options: RequestOptions = {}): Promise<Run> {
    return this.caller.one("POST", path`/v1/runs/${runId}/cancel`, options, { body: input })
  }

  /** End the sleep or the retry pause of a suspended durable run, so that it continues now. `POST /v1/runs/{run_id}/wake` */
  wake(runId: string, options: RequestOptions = {}): Promise<Run> {
    return this.caller.one("POST", path`/v1/runs/${runId}/wake`, options)
  }

  /** Complete the token of a durable run with this name, of several the last one. `POST /v1/runs/{run_id}/tokens/{name}` */
  completeToken(
    runId: string,
    name: string,
    input: TokenCompletionInput = {},
    options: RequestOptions = {}
  ): Promise<CompletedToken> {
    return this.caller.one("POST", path`/v1/runs/${runId}/tokens/${name}`, options, { body: input })
  }

  /** Run a function again for the same event; returns the new run, or 202 with the event if it is queued. `POST /v1/runs/{run_id}/replay` */
  replay(runId: string, query: RunsReplayQuery = {}, options: RequestOptions = {}): Promise<Run | Event> {
    return this.caller.one("POST", path`/v1/runs/${runId}/replay`, options, { query })
  }
}
