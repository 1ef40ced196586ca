/** `TickStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { TickStore } from "../runtime/runs/TickStore.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<TickStore, never, MemoryDatabase> = Layer.effect(
  TickStore,
  Effect.map(MemoryDatabase, (db) =>
    TickStore.of({
      fire: (ticks) =>
        Effect.sync(() =>
          ticks.flatMap(({ schedule: { schedule_id, next_at }, next, fired }) => {
            const stored = db.schedules.get(schedule_id)
            if (stored?.next_at !== next_at) return []
            if (next === null) db.schedules.delete(schedule_id)
            else db.schedules.set(schedule_id, { ...stored, ...next })
            if (fired !== null) {
              db.events.set(fired.event.event_id, fired.event)
              db.deliveries.set(fired.delivery.delivery_id, { delivery: fired.delivery, run_id: null })
            }
            return [schedule_id]
          })
        )
    })
  )
)
