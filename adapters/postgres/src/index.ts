export type { HostConnection, HostResult } from "./HostConnection.ts"
export {
  type Outbox,
  type OutboxEvent,
  type OutboxHost,
  type OutboxOptions,
  outbox,
  publishIn,
  TransactionUnusable
} from "./Outbox.ts"
export { cluster } from "./PostgresCluster.ts"
export { type PostgresOptions, PostgresUnusable } from "./PostgresOptions.ts"
export { connection, database, storesOn } from "./PostgresStores.ts"
