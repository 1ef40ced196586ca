/** Whether streams exist: one does as soon as an event or a run belongs to it. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, StreamId } from "../ids/Ids.ts"

export class StreamStore extends Context.Service<
  StreamStore,
  {
    /** Whether an event or a run of the environment is in the stream. Streams of others do not count. */
    readonly exists: (envId: EnvId, id: StreamId) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("@weft/core/streams/StreamStore") {}
