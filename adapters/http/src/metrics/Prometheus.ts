/** Metrics in the Prometheus format. */
import type { AnySeries } from "@weft/core/adapter"
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** Formats series as text, in exposition format version 0.0.4. */
export const prometheusText = (series: ReadonlyArray<AnySeries>): string => {
  // A separate registry, so that the host's own Effect metrics are not included.
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const one of series) register(one, context)
  return PrometheusMetrics.formatUnsafe(context)
}

const register = (series: AnySeries, context: Context.Context<never>): Metric.Registration => {
  const { name, help: description, labels: attributes } = series
  switch (series.type) {
    case "counter": {
      const state = { count: series.value, incremental: true }
      return fixed(Metric.counter(name, { description, attributes }), state, context)
    }
    case "gauge":
      return fixed(Metric.gauge(name, { description, attributes }), { value: series.value }, context)
    case "histogram": {
      const boundaries = series.buckets.map(([bound]) => bound)
      const buckets = series.buckets.map(([bound, count]): [number, number] => [bound, count])
      const { count, sum } = series
      const state = { buckets, count, sum, min: 0, max: 0 }
      return fixed(Metric.histogram(name, { description, attributes, boundaries }), state, context)
    }
  }
}

/** Registers a metric with a constant state. */
const fixed = <Input, State>(metric: Metric.Metric<Input, State>, state: State, context: Context.Context<never>) =>
  Metric.registerUnsafe(metric, context, { get: () => state, update: () => undefined, modify: () => undefined })
