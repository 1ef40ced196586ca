/** A separate entry, because only hosts with an OpenTelemetry SDK have `@opentelemetry/api`. */
export { type HostTracingOptions, tracing } from "./HostTracer.ts"
