/** `JournalStore` on SQL. */
import { JournalStore, type Lease, loseRun, type NodeId, type Run, type RunId, type Timestamp } from "@weft/core"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database, orUnavailable, type RowOf } from "./Database.ts"
import { claimDue, type Turns } from "./JournalClaim.ts"
import { applyEntries } from "./JournalCommit.ts"
import { endRow, giveBackRow, journalStatements } from "./JournalStatements.ts"
import { runColumns, toRun } from "./RunStoreSql.ts"
import { Tally } from "./Tally.ts"

export const layer: Layer.Layer<JournalStore, never, Database> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { writer: sql, exclusive } = database
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
      return sql<RowOf<Run> & Held>`
        SELECT ${sql.literal(runColumns)}, delivery_id, first_run_id FROM runs
        WHERE status = 'running' AND ${dead} LIMIT ${limit}`
    }

    const reap = Effect.fnUntraced(function* (nodeId: NodeId, now: Timestamp, limit: number) {
      const rows = yield* orphans(nodeId, now, limit)
      const tally = new Tally()
      const lost = rows.map(({ delivery_id, first_run_id, ...row }) => {
        const run = loseRun(toRun(row), "NodeLost", "The process that ran this function is gone", now)
        tally.ended(run)
        return { run, delivery_id, next: { attempt: run.attempt, due_at: now, first_run_id } }
      })
      yield* statements.giveBack(
        lost.flatMap(({ run, delivery_id, next }) =>
          delivery_id === null ? [] : [giveBackRow(run, delivery_id, next)]
        )
      )
      yield* statements.endRuns(lost.map(({ run, delivery_id }) => endRow(run, [], delivery_id)))
      yield* statements.countRuns(tally.runs())
      if (rows.length < limit && !exclusive) yield* sql`DELETE FROM leases WHERE until < ${now}`
      return lost.map(({ run }) => run)
    })

    return JournalStore.of({
      commit: (entries, lease) =>
        sql
          .withTransaction(
            lease === null
              ? applyEntries(statements, entries)
              : Effect.andThen(renew(lease), applyEntries(statements, entries))
          )
          .pipe(orUnavailable("commit")),

      claim: (request) =>
        sql
          .withTransaction(Effect.andThen(renew(request.lease), claimDue(database, statements, turns, request)))
          .pipe(orUnavailable("claim")),

      reap: (nodeId, now, limit) => sql.withTransaction(reap(nodeId, now, limit)).pipe(orUnavailable("reap"))
    })
  })
)

interface Held {
  readonly delivery_id: string | null
  readonly first_run_id: RunId | null
}
