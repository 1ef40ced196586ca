/** Seam for reading events. `EventLog` writes them together with their deliveries. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, EventId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Event } from "./Event.ts"

export class EventStore extends Context.Service<
  EventStore,
  {
    readonly get: (envId: EnvId, id: EventId) => Effect.Effect<Event, NotFound | StoreUnavailable>
    /** Returns those of the events that are stored, in any order. Callers limit the size of their data. */
    readonly getMany: (
      envId: EnvId,
      ids: ReadonlyArray<EventId>
    ) => Effect.Effect<ReadonlyArray<Event>, StoreUnavailable>
    /** Lists events, newest first; `only` restricts the types. A page of large data may have fewer items than requested: see `countOfPage`. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Event>, StoreUnavailable>
  }
>()("@weft/core/runtime/events/EventStore") {}
