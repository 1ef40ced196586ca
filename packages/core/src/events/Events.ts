/** Publishing events and looking them up. Permission first, then the rules, then the store. */
import { Context, Effect, Layer } from "effect"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { readable } from "../access/Permission.ts"
import {
  type BadRequest,
  type Forbidden,
  NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../errors/Errors.ts"
import { EventId, idReader } from "../ids/Ids.ts"
import { askForLess, type Page, type PageRequest } from "../ids/Page.ts"
import type { Event } from "./Event.ts"
import { EventLog } from "./EventLog.ts"
import { EventStore } from "./EventStore.ts"
import { makePublishing, type NewEvent } from "./Publishing.ts"

export type { NewEvent } from "./Publishing.ts"

export class Events extends Context.Service<
  Events,
  {
    /**
     * Durable when it returns, and so is the intent to run every matching handler. `PlanRequired` when the plan's runs
     * are used up, also for the host. Needs `event: create` on the type.
     */
    readonly publish: (
      event: NewEvent
    ) => Effect.Effect<Event, Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable, Caller>
    /**
     * As `publish`, of at most 1,000 events, which share their commit where they can; the stored events in their order.
     * All are checked before any is stored, and a `BadRequest` says which is meant, such as `events[3]`. When the store
     * fails meanwhile some may be stored: who publishes them again gives each its `idempotencyKey`.
     */
    readonly publishMany: (
      events: ReadonlyArray<NewEvent>
    ) => Effect.Effect<
      ReadonlyArray<Event>,
      Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable,
      Caller
    >
    /** Newest first; only types that the caller may read. `BadRequest` when they are too large for one page. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Event>, Forbidden | BadRequest | StoreUnavailable, Caller>
    readonly get: (id: string) => Effect.Effect<Event, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const store = yield* EventStore
      const log = yield* EventLog
      const publishing = yield* makePublishing

      return Events.of({
        publish: (input) => publishing.one(log, input),
        publishMany: (inputs) => publishing.many(log, inputs),

        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requirePermission("event", [], "read")
          const types = readable(caller.permissions, "event", "read")
          return yield* store.list(caller.env_id, page, types === "all" ? undefined : types).pipe(askForLess)
        }),

        get: Effect.fnUntraced(function* (text) {
          const caller = yield* requirePermission("event", [], "read")
          const eventId = readEventId(text)
          if (eventId === null) return yield* new NotFound({ resource: "event" })
          const event = yield* store.get(caller.env_id, eventId)
          const types = readable(caller.permissions, "event", "read")
          return types === "all" || types.includes(event.event_type)
            ? event
            : yield* new NotFound({ resource: "event" })
        })
      })
    })
  )
}

const readEventId = idReader(EventId)
