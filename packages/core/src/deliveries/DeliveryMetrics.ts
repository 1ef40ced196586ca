/** What a node tells of deliveries: those that run here, and those that wait in the store. */
import { Effect, Layer } from "effect"
import { NodeMetrics } from "../metrics/NodeMetrics.ts"
import type { Series } from "../metrics/Series.ts"
import { RunStore } from "../runs/RunStore.ts"
import { Slots, type SlotsConfig } from "./Slots.ts"

/** Who has so many waiting need not know how many more, and counting is not free. */
const waitingMax = 10_000

export const layer = ({ total }: SlotsConfig) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const slots = yield* Slots
      const store = yield* RunStore
      const metrics = yield* NodeMetrics

      const running = Effect.sync(() => [
        gauge("weft_deliveries_running", "Deliveries that this node has claimed", total - slots.free())
      ])
      const waiting = store.waiting(waitingMax).pipe(
        Effect.map((count) => [
          gauge("weft_deliveries_waiting", `Deliveries that wait in the store, up to ${waitingMax}`, count)
        ]),
        Effect.catchTag("StoreUnavailable", () => Effect.succeed([]))
      )
      metrics.register(running)
      metrics.register(waiting)
    })
  )

const gauge = (name: string, help: string, value: number): Series => ({ type: "gauge", name, help, labels: {}, value })
