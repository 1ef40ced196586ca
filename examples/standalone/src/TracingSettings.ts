/** Tracing settings: the environment variables of the OpenTelemetry specification. */
import { Redacted } from "effect"

export interface TracingSettings {
  /** URL of a collector that accepts OTLP over HTTP. */
  readonly endpoint: string
  readonly serviceName: string
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
  /** Sampled fraction of the traces that start on this server. */
  readonly ratio: number
  /** Interval between requests to the collector, in milliseconds; null for the exporter's default. */
  readonly intervalMs: number | null
}

type Text = (name: string) => string | null
type Whole = (name: string, minimum: number, maximum?: number) => number | null
type Wrong = (name: string, reason: string) => never

/** Returns null without an endpoint, which disables tracing. */
export const tracingSettings = (text: Text, whole: Whole, wrong: Wrong): TracingSettings | null => {
  const endpoint = text("OTEL_EXPORTER_OTLP_ENDPOINT")
  if (endpoint === null || text("OTEL_SDK_DISABLED") === "true") return null
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    wrong("OTEL_EXPORTER_OTLP_ENDPOINT", "must be an http or https URL")
  }
  const ratio = Number(text("OTEL_TRACES_SAMPLER_ARG") ?? 1)
  if (!(ratio >= 0 && ratio <= 1)) wrong("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1")
  return {
    endpoint,
    serviceName: text("OTEL_SERVICE_NAME") ?? "weft",
    headers: parseHeaders(text("OTEL_EXPORTER_OTLP_HEADERS"), wrong),
    ratio,
    intervalMs: whole("OTEL_BSP_SCHEDULE_DELAY", 1, 3_600_000)
  }
}

/** Parses `name=value,name=value` with percent-encoded values. */
const parseHeaders = (value: string | null, wrong: Wrong): TracingSettings["headers"] => {
  const pairs = (value ?? "").split(",").filter((pair) => pair.trim() !== "")
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, encoded] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(\S*)\s*$/.exec(pair) ?? []
      const decoded = encoded === undefined ? null : decode(encoded)
      return name === undefined || decoded === null
        ? wrong(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "must be a comma-separated list of name=value, with percent-encoded values"
          )
        : [name, Redacted.make(decoded)]
    })
  )
}

const decode = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
