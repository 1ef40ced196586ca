/** Seam for reading runs and their logs. The journal writes them. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, EventId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { LogEntry, Run, RunStats, RunStatus, RunType } from "./Run.ts"
import type { RunSummary } from "./RunActivity.ts"
import type { WaitingFor } from "./Workflow.ts"

/** Maximum runs that a search counts. Beyond them, its `total` says only whether other runs follow those of the page. */
export const countedMax = 10_000

export interface RunFilter {
  readonly status?: RunStatus
  readonly type?: RunType
  /** Only runs that started at or after this instant. */
  readonly since?: Timestamp
  readonly eventId?: EventId
  /** True to select also the runs of batches that the event `eventId` joined. */
  readonly inBatches?: true
  /** Only suspended runs that wait for this; `any` for all suspended runs. */
  readonly waiting?: WaitingFor | "any"
  /** Only runs of the project with this id, or this name at that time. */
  readonly project?: string
  /** Only runs of this function. */
  readonly fn?: Pick<Run, "ns" | "var">
  /** Only failed runs with this text in the name or the message of their error, ASCII case ignored: see `ErrorText`. */
  readonly error?: string
  /** Only runs with smaller ids: the older ones. */
  readonly before?: RunId
  /** Only runs of projects with one of these ids, or names at that time. */
  readonly only?: ReadonlyArray<string>
}

export class RunStore extends Context.Service<
  RunStore,
  {
    readonly get: (envId: EnvId, id: RunId) => Effect.Effect<Run, NotFound | StoreUnavailable>
    /**
     * Lists runs, newest first. A page of large results may have fewer items than requested: see `countOfPage`. With `fn`,
     * `error`, `before`, or `project` and `since`, the store may count only up to `countedMax` runs.
     */
    readonly list: (envId: EnvId, page: PageRequest, filter: RunFilter) => Effect.Effect<Page<Run>, StoreUnavailable>
    /** Returns the runs that started at or after `since`, newest first, without their results; at most `limit`. */
    readonly recent: (
      envId: EnvId,
      since: Timestamp,
      limit: number,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<RunSummary>, StoreUnavailable>
    /** Lists the first attempts of replays of a run, newest first, at most `limit`. */
    readonly replays: (
      of: Pick<Run, "env_id" | "event_id" | "run_id">,
      limit: number
    ) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>
    /** Returns counts of one instant. `total_runs` is the sum of the others. */
    readonly stats: (envId: EnvId, only?: ReadonlyArray<string>) => Effect.Effect<RunStats, StoreUnavailable>
    /**
     * Counts pending deliveries of all environments, up to `limit`: future ones, and due ones without a free slot. For
     * metrics, which are read rarely.
     */
    readonly waiting: (limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Lists log entries in the order of logging; none for an unknown run. */
    readonly logs: (envId: EnvId, id: RunId, page: PageRequest) => Effect.Effect<Page<LogEntry>, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/RunStore") {}
