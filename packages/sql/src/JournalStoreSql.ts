/** `JournalStore` on SQL. */
import { JournalStore, type Lease, loseRun, type NodeId, type Run, type RunId, type Timestamp } from "@weft/core"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { claimDue, type Turns } from "./JournalClaim.ts"
import { applyAll, applyEach } from "./JournalCommit.ts"
import { parkedGroups, unparkGroups } from "./JournalGroups.ts"
import { purgeEnded } from "./JournalPurge.ts"
import { addEnd, addGivenBack, journalStatements, storedBytes } from "./JournalStatements.ts"
import { runColumns } from "./RunStoreSql.ts"
import { Tally } from "./Tally.ts"

export const layer: Layer.Layer<JournalStore, never, Database> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, writer: sql, exclusive } = database
    const statements = journalStatements(database)
    const turns: Turns = { last: "" }

    const renew = ({ node_id, until }: Lease): Effect.Effect<unknown, SqlError.SqlError> =>
      exclusive
        ? Effect.void
        : sql`INSERT INTO leases ${sql.insert({ node_id, until })}
            ON CONFLICT (node_id) DO UPDATE SET until = excluded.until`

    /** Running runs of dead nodes, with the delivery that each holds. */
    const orphans = (nodeId: NodeId, now: Timestamp, limit: number) => {
      const dead = exclusive
        ? sql`node_id <> ${nodeId}`
        : sql`node_id <> ${nodeId} AND NOT EXISTS (
            SELECT 1 FROM leases WHERE leases.node_id = runs.node_id AND leases.until >= ${now})`
      return sql<Run & Held>`
        SELECT ${sql.literal(runColumns)}, delivery_id, first_run_id, logs FROM runs
        WHERE status = 'running' AND ${dead} LIMIT ${limit}${sql.literal(dialect.skipLocked)}`
    }

    const reap = Effect.fnUntraced(function* (nodeId: NodeId, now: Timestamp, limit: number) {
      const held = yield* orphans(nodeId, now, limit)
      const tally = new Tally()
      const givenBack: Rows = []
      const ends: Rows = []
      const lost = held.map(({ delivery_id, first_run_id, logs, ...row }) => {
        const run = loseRun(row, "NodeLost", "The process that ran this function is gone", now)
        tally.ended(run, storedBytes(run, logs))
        addEnd(ends, run, logs, delivery_id)
        const next = { attempt: run.attempt, due_at: now, first_run_id }
        if (delivery_id !== null) addGivenBack(givenBack, run, delivery_id, next)
        return run
      })
      yield* statements.giveBack.run(givenBack)
      yield* statements.endRuns.run(ends)
      yield* statements.countRuns.run(tally.runs())
      if (lost.length < limit && !exclusive) yield* sql`DELETE FROM leases WHERE until < ${now}`
      return lost
    })

    return JournalStore.of({
      commit: (entries, lease) => {
        const renewed = lease === null ? Effect.void : renew(lease)
        return sql.withTransaction(Effect.andThen(renewed, applyAll(statements, entries))).pipe(
          Effect.catchTag("NotAllCount", () =>
            sql.withTransaction(Effect.andThen(renewed, applyEach(statements, entries)))
          ),
          orUnavailable("commit")
        )
      },

      claim: (request) =>
        sql
          .withTransaction(Effect.andThen(renew(request.lease), claimDue(database, statements, turns, request)))
          .pipe(orUnavailable("claim")),

      unpark: (groups, now) =>
        sql.withTransaction(unparkGroups(database, statements, groups, now)).pipe(orUnavailable("unpark")),

      parked: (after, limit) => parkedGroups(database, after, limit).pipe(orUnavailable("parked")),

      reap: (nodeId, now, limit) => sql.withTransaction(reap(nodeId, now, limit)).pipe(orUnavailable("reap")),

      purge: (envId, before, limit) =>
        sql.withTransaction(purgeEnded(database, statements, envId, before, limit)).pipe(orUnavailable("purge"))
    })
  })
)

interface Held {
  readonly delivery_id: string | null
  readonly first_run_id: RunId | null
  /** What it had logged so far. */
  readonly logs: string | null
}
