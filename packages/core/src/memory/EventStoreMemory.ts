/** `EventStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import { EventStore } from "../runtime/events/EventStore.ts"
import { compareText, MemoryDatabase, toBoundedPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<EventStore, never, MemoryDatabase> = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const { events } = yield* MemoryDatabase

    return EventStore.of({
      get: (envId, id) =>
        Effect.suspend(() => {
          const event = events.get(id)
          return event === undefined || event.env_id !== envId
            ? Effect.fail(new NotFound({ resource: "event" }))
            : Effect.succeed(event)
        }),

      getMany: (envId, ids) =>
        Effect.sync(() => ids.flatMap((id) => events.get(id) ?? []).filter(({ env_id }) => env_id === envId)),

      list: (envId, page, only) =>
        Effect.sync(() =>
          toBoundedPage(
            [...events.values()]
              .filter((event) => event.env_id === envId && (only === undefined || only.includes(event.event_type)))
              .sort((a, b) => compareText(b.event_id, a.event_id)),
            page,
            (event) => event.event_data
          )
        )
    })
  })
)
