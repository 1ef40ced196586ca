/** All stores in one schema of a PostgreSQL database, for any number of nodes. */
import { JournalStore, type Stores } from "@weft/core/adapter"
import { Database, journalStore, orUnavailable, rateStore, recordStores } from "@weft/sql"
import { Cause, Context, Effect, Layer } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { dropExpiredPartitions } from "./PartitionRetention.ts"
import { maintainPartitions } from "./Partitions.ts"
import { open } from "./PostgresClient.ts"
import { postgres } from "./PostgresDialect.ts"
import {
  type PostgresOptions,
  PostgresUnusable,
  type Resolved,
  readerOptions,
  resolve,
  writerOptions
} from "./PostgresOptions.ts"
import { upgrade } from "./Upgrade.ts"

/** Migrates the schema when the layer is built. */
export const database = (options: PostgresOptions): Layer.Layer<Stores, PostgresUnusable> =>
  Layer.provide(Layer.provideMerge(journalWithRetention, storesOn), databaseLayer(options))

/** The database without its stores, for tools that inspect statements. */
export const connection = (options: PostgresOptions): Layer.Layer<Database, PostgresUnusable> => databaseLayer(options)

export const storesOn: Layer.Layer<Stores, never, Database> = Layer.mergeAll(recordStores, journalStore, rateStore)

/** A client for maintenance of whole tables. */
class Maintenance extends Context.Service<
  Maintenance,
  { readonly client: SqlClient.SqlClient; readonly schema: string }
>()("@weft/postgres/Maintenance") {}

/** The journal, extended to remove old runs by whole partitions. */
const journalWithRetention = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const journal = yield* JournalStore
    const { client, schema } = yield* Maintenance
    return JournalStore.of({
      ...journal,
      purgeWhole: (before) => dropExpiredPartitions(client, schema, before).pipe(orUnavailable("purgeWhole"))
    })
  })
)

const databaseLayer = (options: PostgresOptions): Layer.Layer<Database | Maintenance, PostgresUnusable> =>
  Layer.effectContext(openDatabase(options))

const openDatabase = Effect.fnUntraced(function* (options: PostgresOptions) {
  const resolved = resolve(options)
  if (resolved instanceof PostgresUnusable) return yield* resolved
  return yield* Effect.gen(function* () {
    const writer = yield* open(writerOptions(resolved))
    const reader = yield* open(readerOptions(resolved))
    const { schema } = resolved
    const maintenance = yield* open(maintenanceOptions(resolved))
    yield* upgrade(maintenance, schema)
    const connection = Database.of({ dialect: postgres, writer, reader, exclusive: false })
    yield* maintainPartitions(writer, maintenance, resolved)
    return Context.make(Database, connection).pipe(Context.add(Maintenance, { client: maintenance, schema }))
  }).pipe(Effect.catchCause((cause) => Effect.fail(new PostgresUnusable({ reason: toReason(Cause.squash(cause)) }))))
})

/** Returns options for a dedicated connection, opened on demand. Maintenance of whole tables may take minutes. */
const maintenanceOptions = (resolved: Resolved): Resolved => ({
  ...resolved,
  connections: 1,
  wholeTables: true,
  statementTimeoutMs: maintenanceTimeoutMs
})

const maintenanceTimeoutMs = 600_000

const toReason = (error: unknown): string => {
  const cause = SqlError.isSqlError(error) ? error.reason.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
