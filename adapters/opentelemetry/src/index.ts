export * from "./Otlp.ts"
