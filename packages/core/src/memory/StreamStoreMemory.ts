/** `StreamStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { utf8Length } from "../foundation/Utf8.ts"
import type { Event } from "../runtime/events/Event.ts"
import { latestEntries, toActivity } from "../runtime/streams/ActivityHistory.ts"
import { StreamStore } from "../runtime/streams/StreamStore.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<StreamStore, never, MemoryDatabase> = Layer.effect(
  StreamStore,
  Effect.gen(function* () {
    const { events, runs } = yield* MemoryDatabase

    const begins = (event: Event): boolean =>
      ![...events.values(), ...runs.values()].some(
        (other) =>
          other.env_id === event.env_id &&
          other.stream_id === event.stream_id &&
          ("created_at" in other ? other.event_id < event.event_id : other.event_id === null)
      )

    return StreamStore.of({
      exists: (envId, id) =>
        Effect.sync(() =>
          [...events.values(), ...runs.values()].some(({ env_id, stream_id }) => env_id === envId && stream_id === id)
        ),

      since: (envId, query) =>
        Effect.sync(() => {
          const { stream } = query
          const ofEnv = [...events.values()].filter(({ env_id }) => env_id === envId)
          const wanted = [...runs.values()].filter(
            ({ env_id, stream_id }) => env_id === envId && (stream === null || stream_id === stream)
          )
          const entries = latestEntries(
            envId,
            ofEnv.map((event) => ({ ...event, begins: begins(event) })),
            wanted.map((run) => ({ ...run, result_bytes: utf8Length(run.result ?? "") })),
            query
          )
          return toActivity(
            entries,
            new Map(wanted.flatMap(({ run_id, result }) => (result === null ? [] : [[run_id, result]])))
          )
        })
    })
  })
)
