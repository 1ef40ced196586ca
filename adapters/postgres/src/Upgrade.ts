/**
 * Migrates the schema while nodes of the previous release use it.
 *
 * One node migrates. Others that start at the same time wait for it and then have nothing to do. All steps are one
 * transaction. A step that needs an exclusive lock waits for it for 1 s at most, because all other statements queue
 * behind it. Then it rolls back, lets them proceed, and retries.
 */
import { Database, migrate } from "@weft/sql"
import { Effect, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { postgres } from "./PostgresDialect.ts"
import { isLockTimeout } from "./PostgresErrors.ts"

/** Lock timeout of a step, which is the longest time that it blocks other statements while it waits. */
const lockTimeout = "SET LOCAL lock_timeout = '1s'"

/** Maximum attempts of a migration, about 1 s each. */
const triesMax = 600

/** Migrates with the client `sql`, whose statements may take long, such as building an index of a large table. */
export const upgrade = (sql: SqlClient.SqlClient, schema: string) => {
  const database = Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false })
  const steps = Effect.gen(function* () {
    yield* postgres.advisoryLock(sql, [`weft upgrade of ${schema}`])
    yield* sql.unsafe(lockTimeout)
    // A role without the right to create schemas can use an existing one.
    const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
    if (found.length === 0) yield* sql.unsafe(`CREATE SCHEMA ${schema}`)
    yield* Effect.provideService(migrate, Database, database)
  })
  return Effect.retry(sql.withTransaction(steps), {
    while: isLockTimeout,
    schedule: Schedule.jittered(Schedule.spaced("1 second")),
    times: triesMax
  })
}
