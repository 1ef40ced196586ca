/**
 * Bringing the schema up to date while nodes of the version before run on it.
 *
 * One node does it, others that start at the same time wait for it and find nothing left to do. All steps are one
 * transaction: they are done or they are not. A step that needs a table for itself waits for those that use it for a
 * moment only, because everybody else waits behind it; then it lets them all go first and tries again.
 */
import { Database, migrate } from "@weft/sql"
import { Effect, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { postgres } from "./PostgresDialect.ts"
import { isImpatience } from "./Troubles.ts"

/** How long everybody may have to wait for a step that waits itself. */
const lockPatience = "SET LOCAL lock_timeout = '1s'"

/** How long the node that brings the schema up to date may keep the others, in tries of at least a second. */
const triesMax = 600

/** `sql`: a connection on which statements may take long, as those that make an index of a large table do. */
export const upgrade = (sql: SqlClient.SqlClient, schema: string) => {
  const database = Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false })
  const steps = Effect.gen(function* () {
    yield* postgres.hold(sql, [`weft upgrade of ${schema}`])
    yield* sql.unsafe(lockPatience)
    // Who may not make schemas can use one that is there.
    const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
    if (found.length === 0) yield* sql.unsafe(`CREATE SCHEMA ${schema}`)
    yield* Effect.provideService(migrate, Database, database)
  })
  return Effect.retry(sql.withTransaction(steps), {
    while: isImpatience,
    schedule: Schedule.jittered(Schedule.spaced("1 second")),
    times: triesMax
  })
}
