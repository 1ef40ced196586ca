/** `JournalStore` on SQL. */
import {
  type ClaimRequest,
  type Group,
  JournalStore,
  type Lease,
  loseRun,
  type NodeId,
  type Own,
  parkedAt,
  type Run,
  type RunId,
  type Timestamp
} from "@weft/core"
import { Effect, Layer } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { Database, orUnavailable, repeatConflicts } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { claimDue, makeTermsOf, type Turns } from "./JournalClaim.ts"
import { applyAll, applyEach } from "./JournalCommit.ts"
import { parkedGroups, unparkGroups } from "./JournalGroups.ts"
import { purgeEnded } from "./JournalPurge.ts"
import { addEnd, addGivenBack, journalStatements, storedBytes } from "./JournalStatements.ts"
import { runColumns } from "./RunStoreSql.ts"
import { Tally } from "./Tally.ts"

/** One is written while another waits for the disk. */
const sharedCommitsMax = 2

export const layer: Layer.Layer<JournalStore, never, Database> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, writer: sql, exclusive } = database
    const statements = journalStatements(database)
    const turns: Turns = { last: "", termsOf: makeTermsOf() }

    const rowsOf = (lease: Lease | null): Rows => (exclusive || lease === null ? [] : [lease.node_id, lease.until])

    const transaction = <A, E>(effect: Effect.Effect<A, E>) => sql.withTransaction(effect)
    /** One statement is a transaction of its own. */
    const atOnce = statements.together === null ? transaction : repeatConflicts

    const leave = (nodeId: NodeId): Effect.Effect<void, SqlError.SqlError> =>
      exclusive ? Effect.void : Effect.asVoid(sql`DELETE FROM leases WHERE node_id = ${nodeId}`)

    // Written out, so that the database can tell which index has them.
    const parkedTime = sql.literal(String(parkedAt))

    const isOrphan = (nodeId: NodeId, now: Timestamp) =>
      exclusive
        ? sql`status = 'running' AND node_id <> ${nodeId}`
        : sql`status = 'running' AND node_id <> ${nodeId} AND NOT EXISTS (
            SELECT 1 FROM leases WHERE leases.node_id = runs.node_id AND leases.until >= ${now})`

    /** Running runs of dead nodes, with the delivery that each holds. */
    const orphans = (nodeId: NodeId, now: Timestamp, limit: number) => runningRuns(isOrphan(nodeId, now), limit)

    /** Running runs of the node that it does not know of. */
    const forsaken = (nodeId: NodeId, { before, known }: Own, limit: number) =>
      runningRuns(
        sql`status = 'running' AND node_id = ${nodeId} AND start_time < ${before}
          AND run_id NOT IN (${dialect.texts(sql, known)})`,
        limit
      )

    const runningRuns = (which: Statement.Fragment, limit: number) => sql<Run & Held>`
      SELECT ${sql.literal(runColumns)}, delivery_id, first_run_id, logs FROM runs
      WHERE ${which} LIMIT ${limit}${sql.literal(dialect.skipLocked)}`

    const look = (nodeId: NodeId, now: Timestamp) =>
      Effect.map(
        sql<{ orphans: number; next_due_at: Timestamp | null; parked: number; next_tick_at: Timestamp | null }>`SELECT
          CASE WHEN EXISTS (SELECT 1 FROM runs WHERE ${isOrphan(nodeId, now)}) THEN 1 ELSE 0 END AS orphans,
          (SELECT min(due_at) FROM deliveries WHERE due_at < ${parkedTime}) AS next_due_at,
          CASE WHEN EXISTS (SELECT 1 FROM deliveries WHERE due_at = ${parkedTime}) THEN 1 ELSE 0 END AS parked,
          (SELECT min(due_at) FROM schedules) AS next_tick_at`,
        ([row]) => ({
          orphans: row?.orphans === 1,
          next_due_at: row?.next_due_at ?? null,
          parked: row?.parked === 1,
          next_tick_at: row?.next_tick_at ?? null
        })
      )

    const reap = Effect.fnUntraced(function* (nodeId: NodeId, now: Timestamp, limit: number, own?: Own) {
      const dead = yield* orphans(nodeId, now, limit)
      const left = limit - dead.length
      const held = own === undefined || left === 0 ? dead : [...dead, ...(yield* forsaken(nodeId, own, left))]
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

    const unpark = (groups: ReadonlyArray<Group>, now: Timestamp) => unparkGroups(database, statements, groups, now)

    const claim = Effect.fnUntraced(function* (request: ClaimRequest) {
      const due = claimDue(database, statements, turns, request, rowsOf(request.lease))
      if (request.freed.length === 0) return { ...(yield* transaction(due)), unparked: 0 }
      const letIn = unpark(request.freed, request.now)
      // Both hold names of groups: two nodes that took some more of them while they hold others could wait in a circle.
      if (!exclusive) return { unparked: yield* transaction(letIn), ...(yield* transaction(due)) }
      return yield* transaction(Effect.flatMap(letIn, (unparked) => Effect.map(due, (rest) => ({ ...rest, unparked }))))
    })

    return JournalStore.of({
      commitsMax: exclusive ? 1 : sharedCommitsMax,

      commit: (entries, lease) => {
        const rows = rowsOf(lease)
        return atOnce(applyAll(statements, entries, rows)).pipe(
          Effect.catchTag("NotAllCount", () =>
            transaction(Effect.andThen(statements.renewLeases.run(rows), applyEach(statements, entries)))
          ),
          orUnavailable("commit")
        )
      },

      claim: (request) => claim(request).pipe(orUnavailable("claim")),

      unpark: (groups, now) => sql.withTransaction(unpark(groups, now)).pipe(orUnavailable("unpark")),

      parked: (after, limit) => parkedGroups(database, after, limit).pipe(orUnavailable("parked")),

      reap: (nodeId, now, limit, own) => sql.withTransaction(reap(nodeId, now, limit, own)).pipe(orUnavailable("reap")),

      look: (nodeId, now) => look(nodeId, now).pipe(orUnavailable("look")),

      leave: (nodeId) => leave(nodeId).pipe(orUnavailable("leave")),

      purgeWhole: () => Effect.succeed(0),

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
