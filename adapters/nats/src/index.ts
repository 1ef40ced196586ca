export { cluster } from "./NatsCluster.ts"
export type { NatsOptions } from "./NatsOptions.ts"
