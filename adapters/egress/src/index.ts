export * from "./Outbound.ts"
