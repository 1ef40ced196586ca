/** What the store knows of streams: whether they exist, and what has happened in them. */
import { Context, type Effect } from "effect"
import type { Activity } from "../activity/Activity.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, StreamId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"

/** Something that has happened, as the store tells it afterwards. */
export interface Happened {
  readonly at: Timestamp
  readonly activity: Activity
}

export interface SinceQuery {
  /** What happened at this instant or later. */
  readonly from: Timestamp
  /** Only runs of this stream; null: everything in the environment. */
  readonly stream: StreamId | null
  /** How much at most: of more, the latest. */
  readonly limit: number
  /** Bytes of results at most: of more, the latest, and nothing that is older than a result that is left out. */
  readonly bytes: number
}

export class StreamStore extends Context.Service<
  StreamStore,
  {
    /** Whether an event or a run of the environment is in the stream. Streams of others do not count. */
    readonly exists: (envId: EnvId, id: StreamId) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * What has happened, by the stored events and runs, in order of time. That a delivery was handled and what runs have
     * emitted is not stored. A stream counts as begun with its first event or run. Of environments with more than
     * `scannedMax` runs within the last hour, the end of a long run may be missing.
     */
    readonly since: (envId: EnvId, query: SinceQuery) => Effect.Effect<ReadonlyArray<Happened>, StoreUnavailable>
  }
>()("@weft/core/streams/StreamStore") {}

/** Runs that are looked through for those that ended lately, at most: the latest. */
export const scannedMax = 50_000
