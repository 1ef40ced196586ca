/**
 * Traces and logs to a collector, over OTLP in JSON: for hosts without OpenTelemetry.
 *
 *     createWeft({ tracing: Otel.tracing({ endpoint: "http://127.0.0.1:4318", serviceName: "shop" }), … })
 *
 * Sends every few seconds, and when Weft closes. A request is retried three times with a time limit of 5 s each. Then all
 * data is dropped for 1 min. Nothing else waits for the collector; closing Weft waits at most 3 s.
 */
import { Effect, Layer, Option, Random, Redacted, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"

export interface TracingOptions {
  /** Address of the collector. Traces go to `/v1/traces` below it, logs to `/v1/logs`. */
  readonly endpoint: string
  /** The service name of the resource; "weft" by default. */
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** Further attributes of the resource, such as `deployment.environment.name`. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Headers of every request, such as credentials for the collector. */
  readonly headers?: Readonly<Record<string, Redacted.Redacted<string> | string>>
  /**
   * Sampling ratio of traces that begin here, 0 to 1; 1 by default. For a trace of a request or of the host, its own
   * sampling flag decides.
   */
  readonly ratio?: number
  /** True to send the logs of the runtime as well, the default. Logs of tenants' functions are never sent. */
  readonly logs?: boolean
  /** Interval between requests to the collector, in milliseconds; 5,000 by default. */
  readonly intervalMs?: number
}

const defaultIntervalMs = 5_000

/** Time limit of one request to the collector, including its response. */
const answerMs = 5_000

/** Aborts late requests: data would otherwise accumulate behind a silent collector. */
const inTime = Layer.succeed(FetchHttpClient.Fetch, (input, init) => {
  const late = AbortSignal.timeout(answerMs)
  return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
})

export const tracing = (options: TracingOptions): Layer.Layer<never> => {
  const { serviceName = "weft", serviceVersion, attributes, intervalMs = defaultIntervalMs } = options
  const base = options.endpoint.replace(/\/+$/, "")
  const shared = {
    resource: {
      serviceName,
      ...(serviceVersion === undefined ? {} : { serviceVersion }),
      ...(attributes === undefined ? {} : { attributes })
    },
    headers: plainHeaders(options.headers),
    exportInterval: intervalMs
  }
  const tracer = Layer.effect(
    Tracer.Tracer,
    Effect.flatMap(OtlpTracer.make({ ...shared, url: `${base}/v1/traces` }), sampled(options.ratio ?? 1))
  )
  const logger = OtlpLogger.layer({ ...shared, url: `${base}/v1/logs`, excludeLogSpans: true })
  return Layer.merge(tracer, options.logs === false ? Layer.empty : logger).pipe(
    Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, FetchHttpClient.layer, inTime])
  )
}

/** Drops whole traces that begin here, by the sampling ratio. */
const sampled =
  (ratio: number) =>
  (tracer: Tracer.Tracer): Effect.Effect<Tracer.Tracer> =>
    ratio >= 1
      ? Effect.succeed(tracer)
      : Effect.map(Random.Random, (random) =>
          Tracer.make({
            span: (span) =>
              Option.isSome(span.parent) || random.nextDoubleUnsafe() < ratio
                ? tracer.span(span)
                : tracer.span({ ...span, sampled: false })
          })
        )

const plainHeaders = (headers: TracingOptions["headers"] = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : Redacted.value(value)])
  )
