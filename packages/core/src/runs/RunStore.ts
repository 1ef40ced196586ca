/** Reading runs and their logs. They are written by the journal. */
import { Context, type Effect } from "effect"
import type { NotFound, PageTooLarge, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, EventId, RunId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { LogEntry, Run, RunStats, RunStatus, RunType } from "./Run.ts"

export interface RunFilter {
  readonly status?: RunStatus
  readonly type?: RunType
  /** Only runs that started at or after this instant. */
  readonly since?: Timestamp
  readonly eventId?: EventId
  /** Only runs of projects whose id or name (at the time) this holds. */
  readonly only?: ReadonlyArray<string>
}

export class RunStore extends Context.Service<
  RunStore,
  {
    readonly get: (envId: EnvId, id: RunId) => Effect.Effect<Run, NotFound | StoreUnavailable>
    /** Newest first. Fails when their results are larger together than `pageBytesMax`. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: RunFilter
    ) => Effect.Effect<Page<Run>, PageTooLarge | StoreUnavailable>
    /** Counts of one instant: `total_runs` is the sum of the others. */
    readonly stats: (envId: EnvId, only?: ReadonlyArray<string>) => Effect.Effect<RunStats, StoreUnavailable>
    /**
     * Deliveries of all environments that wait, for their time or for room on a node; counted up to `limit`. For the
     * operator, who asks seldom.
     */
    readonly waiting: (limit: number) => Effect.Effect<number, StoreUnavailable>
    /** In the order of logging; nothing for an unknown run. */
    readonly logs: (envId: EnvId, id: RunId, page: PageRequest) => Effect.Effect<Page<LogEntry>, StoreUnavailable>
  }
>()("@weft/core/runs/RunStore") {}
