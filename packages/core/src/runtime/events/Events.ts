/** Publishes and reads events for callers. Checks permission first, then the rules. */
import { Context, Effect, Layer } from "effect"
import { type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { EventId, idReader } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { makeCopyEvents } from "./copyEvents.ts"
import type { Event } from "./Event.ts"
import { EventLog } from "./EventLog.ts"
import { EventStore } from "./EventStore.ts"
import { makePublishEvent, type NewEvent, type PublishError } from "./publishEvent.ts"

export type { NewEvent } from "./publishEvent.ts"

export class Events extends Context.Service<
  Events,
  {
    /**
     * Publishes an event: stores it and a delivery for every matching handler, durably. Requires `event: create` on the
     * type. Limits of the plan also apply to the host. Fails with `PlanRequired` if the runs of the month are used up, and
     * with `RateLimited` if the environment has too many pending deliveries.
     */
    readonly publish: (event: NewEvent) => Effect.Effect<Event, PublishError, Caller>
    /**
     * As `publish`, for at most 1,000 events, which share a commit if possible. Returns the stored events in order. All
     * are checked before any is stored; a `BadRequest` names the wrong one, such as `events[3]`. If the store fails, some
     * may be stored. Give each event an `idempotencyKey` to repeat the call safely.
     */
    readonly publishMany: (events: ReadonlyArray<NewEvent>) => Effect.Effect<ReadonlyArray<Event>, PublishError, Caller>
    /** Lists events, newest first, of the types that the caller may read. A page of large data may have fewer items. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Event>, Forbidden | StoreUnavailable, Caller>
    readonly get: (id: string) => Effect.Effect<Event, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const store = yield* EventStore
      const log = yield* EventLog
      const publishEvent = yield* makePublishEvent
      const copyEvents = yield* makeCopyEvents(log, publishEvent)

      return Events.of({
        publish: (input) =>
          input.causedBy === undefined
            ? Effect.tap(publishEvent.one(log, input), (event) => copyEvents(event.env_id, [input], [event]))
            : publishEvent.one(log, input),
        publishMany: (inputs) =>
          Effect.tap(publishEvent.many(log, inputs), (events) =>
            events[0] === undefined ? Effect.void : copyEvents(events[0].env_id, inputs, events)
          ),

        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requirePermission("event", [], "read")
          const types = readable(caller.permissions, "event", "read")
          return yield* store.list(caller.env_id, page, types === "all" ? undefined : types)
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
