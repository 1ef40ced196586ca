/** Where the parts of a node leave what they count, and where it is read from when somebody asks. */
import { Context, Effect, Layer } from "effect"
import type { AnySeries } from "./Series.ts"

/** Reads what a part has counted. Does without what cannot be had now. */
export type Reading = Effect.Effect<ReadonlyArray<AnySeries>>

export class NodeMetrics extends Context.Service<
  NodeMetrics,
  {
    /** Has `reading` read whenever somebody asks. */
    readonly register: (reading: Reading) => void
    /** All that was registered, in that order. */
    readonly read: Reading
  }
>()("@weft/core/metrics/NodeMetrics") {
  static readonly layer: Layer.Layer<NodeMetrics> = Layer.sync(NodeMetrics, () => {
    const readings: Array<Reading> = []
    return NodeMetrics.of({
      register: (reading) => void readings.push(reading),
      read: Effect.suspend(() => Effect.map(Effect.all(readings), (series) => series.flat()))
    })
  })
}
