/** The runs of one environment, and calls by name, for the host. */
import { Effect, type Schema } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import { type Called, Calls, type NewCall } from "../runtime/control/Calls.ts"
import type { ReplayBuild } from "../runtime/control/ReplayMatch.ts"
import { type CancelQuery, RunControl } from "../runtime/control/RunControl.ts"
import { RunStatistics, type SeriesQuery } from "../runtime/control/RunStatistics.ts"
import { type RunQuery, Runs } from "../runtime/control/Runs.ts"
import { type CompletedToken, Tokens } from "../runtime/control/Tokens.ts"
import type { LogEntry, RunStats } from "../runtime/runs/Run.ts"
import type { RunSeries } from "../runtime/runs/Series.ts"
import type { OpenWait } from "../runtime/runs/Workflow.ts"
import type { Caller } from "../tenants/access/Caller.ts"
import { type HostEvent, type HostRun, type HostStep, hostEvent, hostRun, hostStep, mapPage } from "./HostRecords.ts"

/** A started call: its stored event, and its run, or null if the run has not begun yet. */
export interface HostCalled {
  readonly event: HostEvent
  readonly run: HostRun | null
}

/** A page of steps, and what the run waits for: at most 100 waits. */
export interface HostSteps extends Page<HostStep> {
  readonly waits: ReadonlyArray<OpenWait>
}

export interface HostRuns {
  readonly list: (query?: RunQuery, page?: PageRequest) => Promise<Page<HostRun>>
  readonly get: (runId: string) => Promise<HostRun>
  readonly stats: () => Promise<RunStats>
  /** Counts the ended runs of each function by step, with the percentiles of their waits and durations. */
  readonly series: (query?: SeriesQuery) => Promise<RunSeries>
  /** Lists the log of a run; of a running run, the lines logged so far. */
  readonly logs: (runId: string, page?: PageRequest) => Promise<Page<LogEntry>>
  /** Lists the recorded results of a durable run in their order, with its open waits. */
  readonly steps: (runId: string, page?: PageRequest) => Promise<HostSteps>
  /** Ends the sleep or the retry pause of a suspended durable run. Rejects if the run does not sleep. */
  readonly wake: (runId: string) => Promise<HostRun>
  /** Cancels a running run without a retry. Rejects if the run has ended. */
  readonly cancel: (runId: string, options?: { readonly cleanup?: boolean | string }) => Promise<HostRun>
  /** Cancels all running runs that match the query. Returns their number. */
  readonly cancelAll: (query?: CancelQuery) => Promise<number>
  /**
   * Completes the token of a durable run with this name, of several the last one. `data` is null by default. Rejects if the
   * token was completed, or has expired.
   */
  readonly completeToken: (runId: string, name: string, data?: Schema.Json) => Promise<CompletedToken>
  /** Runs a function again for the same event, in the same build by default. `from` is a step of an ended durable run. */
  readonly replay: (runId: string, build?: ReplayBuild, from?: string) => Promise<HostCalled>
}

type RunEffect = <A, E>(
  effect: Effect.Effect<A, E, Runs | RunStatistics | RunControl | Tokens | Calls | Caller>
) => Promise<A>

export const hostRuns = (runEffect: RunEffect): HostRuns => ({
  list: (query = {}, page = firstPage) =>
    runEffect(
      Effect.map(
        Runs.use((runs) => runs.list(page, query)),
        mapPage(hostRun)
      )
    ),
  get: (runId) =>
    runEffect(
      Effect.map(
        Runs.use((runs) => runs.get(runId)),
        hostRun
      )
    ),
  stats: () => runEffect(Runs.use((runs) => runs.stats)),
  series: (query = {}) => runEffect(RunStatistics.use((statistics) => statistics.series(query))),
  logs: (runId, page = firstPage) => runEffect(Runs.use((runs) => runs.logs(runId, page))),
  steps: (runId, page = firstPage) =>
    runEffect(
      Effect.map(
        Runs.use((runs) => runs.steps(runId, page)),
        ({ waits, ...steps }) => ({ ...mapPage(hostStep)(steps), waits })
      )
    ),
  wake: (runId) =>
    runEffect(
      Effect.map(
        RunControl.use((control) => control.wake(runId)),
        hostRun
      )
    ),
  cancel: (runId, { cleanup } = {}) =>
    runEffect(
      Effect.map(
        RunControl.use((control) => control.cancel(runId, cleanup)),
        hostRun
      )
    ),
  cancelAll: (query = {}) => runEffect(RunControl.use((control) => control.cancelAll(query))),
  completeToken: (runId, name, data) => runEffect(Tokens.use((tokens) => tokens.completeNamed(runId, name, data))),
  replay: (runId, build, from) =>
    runEffect(
      Effect.map(
        RunControl.use((control) => control.replay(runId, build, from)),
        hostCalled
      )
    )
})

export const hostCall =
  (runEffect: RunEffect) =>
  (call: NewCall): Promise<HostCalled> =>
    runEffect(
      Effect.map(
        Calls.use((calls) => calls.call(call)),
        hostCalled
      )
    )

const hostCalled = ({ event, run }: Called): HostCalled => ({
  event: hostEvent(event),
  run: run === null ? null : hostRun(run)
})
