export { type OtlpOptions, otlp } from "./Otlp.ts"
