/** A module of its own, because only hosts with an OpenTelemetry SDK have `@opentelemetry/api`. */
export { type HostTracerOptions, hostTracer } from "./HostTracer.ts"
