export { type TracingOptions, tracing } from "./Otlp.ts"
