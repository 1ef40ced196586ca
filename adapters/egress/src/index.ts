export { type EgressOptions, egress } from "./Outbound.ts"
