export { type OutboundOptions, outbound } from "./Outbound.ts"
