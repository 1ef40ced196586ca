/** The runs of one environment as an embedding program sees them, and how it sets them off by name. */
import { Effect } from "effect"
import type { Caller } from "./access/Caller.ts"
import { type Called, Calls, type NewCall } from "./control/Calls.ts"
import type { ReplayBuild } from "./control/Replay.ts"
import { type CancelQuery, RunControl } from "./control/RunControl.ts"
import { type RunQuery, Runs } from "./control/Runs.ts"
import { type HostEvent, type HostRun, hostEvent, hostRun, mapPage } from "./HostRecords.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"
import type { LogEntry, RunStats } from "./runs/Run.ts"

/** What was begun: the event that is stored, and its run, or null when none has begun yet. */
export interface HostCalled {
  readonly event: HostEvent
  readonly run: HostRun | null
}

export interface HostRuns {
  readonly list: (query?: RunQuery, page?: PageRequest) => Promise<Page<HostRun>>
  readonly get: (runId: string) => Promise<HostRun>
  readonly stats: () => Promise<RunStats>
  /** Of a running run what it has logged so far. */
  readonly logs: (runId: string, page?: PageRequest) => Promise<Page<LogEntry>>
  /** Ends a running run for good. Rejects when it has ended. */
  readonly cancel: (runId: string) => Promise<HostRun>
  /** Ends all running runs that the query means; how many those were. */
  readonly cancelAll: (query?: CancelQuery) => Promise<number>
  /** Runs a function again for the same event, in the same build by default. */
  readonly replay: (runId: string, build?: ReplayBuild) => Promise<HostCalled>
}

type Running = <A, E>(effect: Effect.Effect<A, E, Runs | RunControl | Calls | Caller>) => Promise<A>

export const hostRuns = (running: Running): HostRuns => ({
  list: (query = {}, page = firstPage) =>
    running(
      Effect.map(
        Runs.use((runs) => runs.list(page, query)),
        mapPage(hostRun)
      )
    ),
  get: (runId) =>
    running(
      Effect.map(
        Runs.use((runs) => runs.get(runId)),
        hostRun
      )
    ),
  stats: () => running(Runs.use((runs) => runs.stats)),
  logs: (runId, page = firstPage) => running(Runs.use((runs) => runs.logs(runId, page))),
  cancel: (runId) =>
    running(
      Effect.map(
        RunControl.use((control) => control.cancel(runId)),
        hostRun
      )
    ),
  cancelAll: (query = {}) => running(RunControl.use((control) => control.cancelAll(query))),
  replay: (runId, build) =>
    running(
      Effect.map(
        RunControl.use((control) => control.replay(runId, build)),
        hostCalled
      )
    )
})

export const hostCall =
  (running: Running) =>
  (call: NewCall): Promise<HostCalled> =>
    running(
      Effect.map(
        Calls.use((calls) => calls.call(call)),
        hostCalled
      )
    )

const hostCalled = ({ event, run }: Called): HostCalled => ({
  event: hostEvent(event),
  run: run === null ? null : hostRun(run)
})
