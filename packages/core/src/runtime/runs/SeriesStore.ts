/** Seam for the counts of ended runs by function and minute. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { MinuteCounts } from "./MinuteCounts.ts"

/** Selects rows of an environment. */
export interface SeriesSelection {
  /** Start of the first minute. */
  readonly from: Timestamp
  /** Rows of minutes that start at or after this instant are not selected. */
  readonly to: Timestamp
  readonly projectId?: ProjectId
  /** Only this function. */
  readonly fn?: Pick<MinuteCounts, "ns" | "var">
  /** Only rows of projects with one of these ids, or names at that time. */
  readonly only?: ReadonlyArray<string>
}

/** The columns that identify a row of an environment, in the order of `read`. */
export type SeriesKey = Pick<MinuteCounts, "at" | "project_id" | "ns" | "var" | "node_id">

export class SeriesStore extends Context.Service<
  SeriesStore,
  {
    /**
     * Stores rows in one transaction. A row replaces that of the same function, minute and node, so rows can be stored
     * repeatedly.
     */
    readonly save: (rows: ReadonlyArray<MinuteCounts>) => Effect.Effect<void, StoreUnavailable>
    /** Returns the selected rows after `after`, at most `limit`, in the order of their keys. */
    readonly read: (
      envId: EnvId,
      selection: SeriesSelection,
      after: SeriesKey | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<MinuteCounts>, StoreUnavailable>
    /** Returns the start of the last selected minute in which a run succeeded; null without one. */
    readonly lastSuccess: (
      envId: EnvId,
      selection: SeriesSelection
    ) => Effect.Effect<Timestamp | null, StoreUnavailable>
    /** Removes rows of minutes before `before`, at most `limit`. Returns their number. */
    readonly purge: (envId: EnvId, before: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/SeriesStore") {}
