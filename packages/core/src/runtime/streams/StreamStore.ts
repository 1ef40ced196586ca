/** Seam for reading streams: their existence and their past activity. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, StreamId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"

/** An activity that the store reconstructs from an event or a run. */
export interface StoredActivity {
  readonly at: Timestamp
  readonly activity: ActivityEvent
}

export interface SinceQuery {
  /** Only activity at this instant or later. */
  readonly from: Timestamp
  /** Only runs of this stream; null for the whole environment. */
  readonly stream: StreamId | null
  /** Maximum activities. If there are more, the latest are returned. */
  readonly limit: number
  /** Maximum bytes of results. Nothing older than a result that does not fit is returned. */
  readonly bytes: number
}

export class StreamStore extends Context.Service<
  StreamStore,
  {
    /** True if the stream has an event or a run of this environment. */
    readonly exists: (envId: EnvId, id: StreamId) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Returns past activity, from the stored events and runs, in order of time. `event:handled` and `stream:data` are not
     * stored. A stream begins with its first event or run. In environments with more than `scannedMax` runs within the
     * last hour, the end of a long run may be missing.
     */
    readonly since: (envId: EnvId, query: SinceQuery) => Effect.Effect<ReadonlyArray<StoredActivity>, StoreUnavailable>
  }
>()("@weft/core/runtime/streams/StreamStore") {}

/** Maximum runs that are scanned for recent ends: the latest ones. */
export const scannedMax = 50_000
