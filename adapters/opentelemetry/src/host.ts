/** A module of its own, because only hosts with an OpenTelemetry SDK have `@opentelemetry/api`. */
export * from "./HostTracer.ts"
