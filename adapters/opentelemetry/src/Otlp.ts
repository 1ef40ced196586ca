/**
 * Traces and logs to a collector, over OTLP in JSON: for hosts that have no OpenTelemetry of their own.
 *
 *     start({ tracing: otlp({ endpoint: "http://127.0.0.1:4318", serviceName: "shop" }), … })
 *
 * Sent every few seconds and when Weft is closed. A collector that does not answer is asked again three times, each for
 * 5 s; then what it should get is dropped for a minute. Nothing else waits for it, and closing Weft 3 s at most.
 */
import { Effect, Layer, Option, Random, Redacted, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"

export interface OtlpOptions {
  /** Of the collector: traces go to `/v1/traces` below it, logs to `/v1/logs`. */
  readonly endpoint: string
  /** What the traces are said to come from; default "weft". */
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** More attributes of the resource, such as `deployment.environment.name`. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Sent with every request: what the collector knows its clients by. */
  readonly headers?: Readonly<Record<string, Redacted.Redacted<string> | string>>
  /**
   * Of the traces that begin here, the part that is sent: 0 to 1, default 1. A trace that a request or the host brings
   * along is sent if that says so.
   */
  readonly ratio?: number
  /** Whether the logs of the runtime are sent, too; default true. What functions log is their tenants', and is not. */
  readonly logs?: boolean
  /** Between two requests to the collector, in milliseconds; default 5,000. */
  readonly intervalMs?: number
}

const defaultIntervalMs = 5_000

/** For one request to the collector, to the end of its answer. */
const answerMs = 5_000

/** Otherwise what is to be sent would pile up behind a collector that is silent. */
const inTime = Layer.succeed(FetchHttpClient.Fetch, (input, init) => {
  const late = AbortSignal.timeout(answerMs)
  return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
})

export const otlp = (options: OtlpOptions): Layer.Layer<never> => {
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

/** Leaves out some of the traces that begin here, whole. */
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

const plainHeaders = (headers: OtlpOptions["headers"] = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : Redacted.value(value)])
  )
