/**
 * Traces by the OpenTelemetry SDK that the host has set up: with its exporters, sampling and resource.
 *
 *     import { hostTracer } from "@weft/opentelemetry/host"
 *     start({ tracing: hostTracer(), … })
 *
 * What the host does within a span of its own, such as publishing an event while it answers a request, joins that span's
 * trace; and what functions of the host do for guests finds the span of the call active.
 */
// Its index wants packages that a host without logs by OpenTelemetry does not have.
import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { context, type TracerProvider, trace } from "@opentelemetry/api"
import { HostSpan } from "@weft/core"
import { Layer, type Tracer } from "effect"

export interface HostTracerOptions {
  /** By default the one that is registered globally when Weft starts. */
  readonly provider?: TracerProvider
}

export const hostTracer = (options: HostTracerOptions = {}): Layer.Layer<never> =>
  Layer.merge(
    Layer.provide(
      OtelTracer.layerWithoutOtelTracer,
      Layer.sync(OtelTracer.OtelTracer, () => (options.provider ?? trace.getTracerProvider()).getTracer("weft"))
    ),
    Layer.succeed(HostSpan, activeSpan)
  )

const activeSpan = (): Tracer.AnySpan | null => {
  const span = trace.getSpanContext(context.active())
  if (span === undefined) return null
  return OtelTracer.makeExternalSpan({
    traceId: span.traceId,
    spanId: span.spanId,
    traceFlags: span.traceFlags,
    ...(span.traceState === undefined ? {} : { traceState: span.traceState })
  })
}
