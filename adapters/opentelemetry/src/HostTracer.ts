/**
 * Traces by the host's own OpenTelemetry SDK, with its exporters, sampling and resource.
 *
 *     import * as HostOtel from "@weft/opentelemetry/host"
 *     createWeft({ tracing: HostOtel.tracing(), … })
 *
 * An operation within a span of the host, such as publishing an event during a request, joins the trace of that span.
 * During a call of a host function, the span of the call is active.
 */
// The index of this package imports the log exporter, which such a host may not have installed.
import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { context, type TracerProvider, trace } from "@opentelemetry/api"
import { HostSpan } from "@weft/core/adapter"
import { Layer, type Tracer } from "effect"

export interface HostTracingOptions {
  /** The globally registered provider by default, read when Weft starts. */
  readonly provider?: TracerProvider
}

export const tracing = (options: HostTracingOptions = {}): Layer.Layer<never> =>
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
