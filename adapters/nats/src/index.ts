export { feed } from "./NatsFeed.ts"
export type { NatsOptions } from "./NatsOptions.ts"
