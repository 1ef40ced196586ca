/** Reading events. They are written by `EventLog`, together with the intent to handle them. */
import { Context, type Effect } from "effect"
import type { NotFound, PageTooLarge, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, EventId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Event } from "./Event.ts"

export class EventStore extends Context.Service<
  EventStore,
  {
    readonly get: (envId: EnvId, id: EventId) => Effect.Effect<Event, NotFound | StoreUnavailable>
    /** Newest first; `only` restricts to these event types. Fails when their data is larger together than `pageBytesMax`. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Event>, PageTooLarge | StoreUnavailable>
  }
>()("@weft/core/events/EventStore") {}
