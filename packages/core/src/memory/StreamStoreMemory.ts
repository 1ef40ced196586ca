/** `StreamStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { StreamStore } from "../streams/StreamStore.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<StreamStore, never, MemoryDatabase> = Layer.effect(
  StreamStore,
  Effect.gen(function* () {
    const { events, runs } = yield* MemoryDatabase

    return StreamStore.of({
      exists: (envId, id) =>
        Effect.sync(() =>
          [...events.values(), ...runs.values()].some(({ env_id, stream_id }) => env_id === envId && stream_id === id)
        )
    })
  })
)
