/** All stores of Weft in one schema of a PostgreSQL database, for any number of nodes. */
import { JournalStore, type Stores } from "@weft/core"
import { Database, journalStore, orUnavailable, rateStore, recordStores } from "@weft/sql"
import { Cause, Context, Effect, Layer } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { dropPassed } from "./PartitionRetention.ts"
import { keepPartitions } from "./Partitions.ts"
import { open } from "./PostgresClient.ts"
import { postgres } from "./PostgresDialect.ts"
import {
  ofReaders,
  ofWriters,
  type PostgresOptions,
  PostgresUnusable,
  type Resolved,
  resolve
} from "./PostgresOptions.ts"
import { upgrade } from "./Upgrade.ts"

/** Brings the schema up to date when the layer is built. */
export const stores = (options: PostgresOptions): Layer.Layer<Stores, PostgresUnusable> =>
  Layer.provide(Layer.provideMerge(purging, storesOn), opened(options))

/** The database by itself, for who looks at its statements. */
export const database = (options: PostgresOptions): Layer.Layer<Database, PostgresUnusable> => opened(options)

export const storesOn: Layer.Layer<Stores, never, Database> = Layer.mergeAll(recordStores, journalStore, rateStore)

/** For what is done to whole tables. */
class Upkeep extends Context.Service<Upkeep, { readonly client: SqlClient.SqlClient; readonly schema: string }>()(
  "@weft/postgres/Upkeep"
) {}

/** The journal, which removes old runs by whole partitions as well. */
const purging = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const journal = yield* JournalStore
    const { client, schema } = yield* Upkeep
    return JournalStore.of({
      ...journal,
      purgeWhole: (before) => dropPassed(client, schema, before).pipe(orUnavailable("purgeWhole"))
    })
  })
)

const opened = (options: PostgresOptions): Layer.Layer<Database | Upkeep, PostgresUnusable> =>
  Layer.effectContext(openDatabase(options))

const openDatabase = Effect.fnUntraced(function* (options: PostgresOptions) {
  const resolved = resolve(options)
  if (resolved instanceof PostgresUnusable) return yield* resolved
  return yield* Effect.gen(function* () {
    const writer = yield* open(ofWriters(resolved))
    const reader = yield* open(ofReaders(resolved))
    const { schema } = resolved
    const upkeep = yield* open(upkeepOf(resolved))
    yield* upgrade(upkeep, schema)
    const database = Database.of({ dialect: postgres, writer, reader, exclusive: false })
    yield* keepPartitions(writer, upkeep, resolved)
    return Context.make(Database, database).pipe(Context.add(Upkeep, { client: upkeep, schema }))
  }).pipe(Effect.catchCause((cause) => Effect.fail(new PostgresUnusable({ reason: reasonOf(Cause.squash(cause)) }))))
})

/** A connection of its own, made when it is needed: what is done to whole tables may take minutes. */
const upkeepOf = (resolved: Resolved): Resolved => ({
  ...resolved,
  connections: 1,
  wholeTables: true,
  statementTimeoutMs: upkeepTimeoutMs
})

const upkeepTimeoutMs = 600_000

const reasonOf = (error: unknown): string => {
  const cause = SqlError.isSqlError(error) ? error.reason.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
