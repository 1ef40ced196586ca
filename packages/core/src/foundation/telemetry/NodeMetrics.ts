/** Registry of the metrics of a node. Parts register a reading; exporters read all of them. */
import { Context, Effect, Layer } from "effect"
import type { AnySeries } from "./Series.ts"

/** Reads the series of one part. Omits series that are not available at the moment. */
export type Reading = Effect.Effect<ReadonlyArray<AnySeries>>

export class NodeMetrics extends Context.Service<
  NodeMetrics,
  {
    /** Adds `reading` to every later `read`. */
    readonly register: (reading: Reading) => void
    /** Reads everything registered, in the order of registration. */
    readonly read: Reading
  }
>()("@weft/core/foundation/telemetry/NodeMetrics") {
  static readonly layer: Layer.Layer<NodeMetrics> = Layer.sync(NodeMetrics, () => {
    const readings: Array<Reading> = []
    return NodeMetrics.of({
      register: (reading) => void readings.push(reading),
      read: Effect.suspend(() => Effect.map(Effect.all(readings), (series) => series.flat()))
    })
  })
}
