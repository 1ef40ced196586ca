/** Gauges of running deliveries of this node and of pending deliveries in the store. */
import { Effect, Layer } from "effect"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import { RunStore } from "../runs/RunStore.ts"
import { Slots, type SlotsConfig } from "./Slots.ts"

/** Maximum pending deliveries to count: beyond it the exact number does not matter, and counting is expensive. */
const countMax = 10_000

export const layer = ({ total }: SlotsConfig) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const slots = yield* Slots
      const store = yield* RunStore
      const metrics = yield* NodeMetrics

      const running = Effect.sync(() => [
        gauge("weft_deliveries_running", "Deliveries that this node has claimed", total - slots.free())
      ])
      const waiting = store.waiting(countMax).pipe(
        Effect.map((count) => [
          gauge("weft_deliveries_waiting", `Pending deliveries in the store, at most ${countMax}`, count)
        ]),
        Effect.catchTag("StoreUnavailable", () => Effect.succeed([]))
      )
      metrics.register(running)
      metrics.register(waiting)
    })
  )

const gauge = (name: string, help: string, value: number): Series => ({ type: "gauge", name, help, labels: {}, value })
