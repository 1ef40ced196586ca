/** All stores of Weft in one schema of a PostgreSQL database, for any number of nodes. */
import type { Stores } from "@weft/core"
import { Database, journalStore, rateStore, recordStores } from "@weft/sql"
import { Cause, Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { keepPartitions } from "./Partitions.ts"
import { open } from "./PostgresClient.ts"
import { postgres } from "./PostgresDialect.ts"
import { type PostgresOptions, PostgresUnusable, type Resolved, resolve } from "./PostgresOptions.ts"
import { upgrade } from "./Upgrade.ts"

/** Brings the schema up to date when the layer is built. */
export const stores = (options: PostgresOptions): Layer.Layer<Stores, PostgresUnusable> =>
  Layer.provide(storesOn, database(options))

/** The database by itself, for who looks at its statements. */
export const database = (options: PostgresOptions): Layer.Layer<Database, PostgresUnusable> =>
  Layer.effect(Database, openDatabase(options))

export const storesOn: Layer.Layer<Stores, never, Database> = Layer.mergeAll(recordStores, journalStore, rateStore)

const openDatabase = Effect.fnUntraced(function* (options: PostgresOptions) {
  const resolved = resolve(options)
  if (resolved instanceof PostgresUnusable) return yield* resolved
  return yield* Effect.gen(function* () {
    const client = yield* open(resolved)
    const upkeep = yield* open(upkeepOf(resolved))
    yield* upgrade(upkeep, resolved.schema)
    const database = Database.of({ dialect: postgres, writer: client, reader: client, exclusive: false })
    yield* keepPartitions(client, upkeep, resolved)
    return database
  }).pipe(Effect.catchCause((cause) => Effect.fail(new PostgresUnusable({ reason: reasonOf(Cause.squash(cause)) }))))
})

/** A connection of its own, made when it is needed: what is done to whole tables may take minutes. */
const upkeepOf = (resolved: Resolved): Resolved => ({
  ...resolved,
  connections: 1,
  statementTimeoutMs: upkeepTimeoutMs
})

const upkeepTimeoutMs = 600_000

const reasonOf = (error: unknown): string => {
  const cause = SqlError.isSqlError(error) ? error.reason.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
