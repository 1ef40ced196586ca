/** `JournalStore` on SQL. */
import {
  type ClaimRequest,
  DeliveryId,
  formatWaiting,
  type Group,
  JournalStore,
  type Lease,
  type LocalRunSet,
  leastIdAt,
  loseRun,
  lostNode,
  type NodeId,
  type PendingWork,
  parkedAt,
  type Run,
  type RunId,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { CountDeltas } from "./CountDeltas.ts"
import { Database, orUnavailable, repeatConflicts } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { type ClaimCursor, claimDue, makeTermsParser } from "./JournalClaim.ts"
import { applyAll, applyEach } from "./JournalCommit.ts"
import { addCounts } from "./JournalCounts.ts"
import { parkedGroups, unparkGroups } from "./JournalGroups.ts"
import { purgeEnded } from "./JournalPurge.ts"
import { journalStatements } from "./JournalStatements.ts"
import { makePostponeThrottled } from "./JournalThrottle.ts"
import { leaseRow } from "./rows/LeaseRow.ts"
import { endRow, requeueRow, runColumns, storedBytes, toEndRow, toRequeueRow } from "./rows/RunRows.ts"
import { suspendRow, toSuspendRow } from "./rows/WorkflowRows.ts"

/** Maximum concurrent commits on a shared database: one is written while another waits for the disk. */
const sharedCommitsMax = 2

export const layer: Layer.Layer<JournalStore, never, Database> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, writer: sql, exclusive } = database
    const statements = journalStatements(database)
    const cursor = makeCursor(database)

    const toLeaseRows = (lease: Lease | null): Rows => (exclusive || lease === null ? [] : leaseRow.encode([lease]))

    const transaction = <A, E>(effect: Effect.Effect<A, E>) => sql.withTransaction(effect)
    /** Runs as a transaction. A combined statement is a transaction of its own. */
    const atomically = statements.combined === null ? transaction : repeatConflicts

    const leave = (nodeId: NodeId): Effect.Effect<void, SqlError.SqlError> =>
      exclusive ? Effect.void : Effect.asVoid(sql`DELETE FROM leases WHERE node_id = ${nodeId}`)

    // Literals, so that the planner matches the partial indexes of parked deliveries, and of runs that a node executes.
    const parkedTime = sql.literal(String(parkedAt))
    const isHeld = sql.literal("status = 'running' AND waiting IS NULL")

    const isOrphan = (nodeId: NodeId, now: Timestamp) =>
      exclusive
        ? sql`${isHeld} AND node_id <> ${nodeId}`
        : sql`${isHeld} AND node_id <> ${nodeId} AND NOT EXISTS (
            SELECT 1 FROM leases WHERE leases.node_id = runs.node_id AND leases.until >= ${now})`

    /** Returns running runs of dead nodes, with the delivery that each holds. */
    const orphans = (nodeId: NodeId, now: Timestamp, limit: number) => selectRunning(isOrphan(nodeId, now), limit)

    /** Returns running runs of the node that the node itself does not know. Each continuation holds a new delivery. */
    const unknownRuns = (nodeId: NodeId, { before, known }: LocalRunSet, limit: number) =>
      selectRunning(
        sql`${isHeld} AND node_id = ${nodeId} AND start_time < ${before}
          AND run_id NOT IN (${dialect.texts(sql, known)})
          AND (delivery_id IS NULL OR (delivery_id < ${leastIdAt(DeliveryId, before)}
            AND delivery_id NOT IN (${dialect.texts(sql, known)})))`,
        limit
      )

    const selectRunning = (which: Statement.Fragment, limit: number) => sql<Run & HeldDelivery>`
      SELECT ${sql.literal(runColumns)}, delivery_id, first_run_id, logs FROM runs
      WHERE ${which} LIMIT ${limit}${sql.literal(dialect.skipLocked)}`

    const look = (nodeId: NodeId, now: Timestamp) =>
      Effect.map(
        sql<PendingRow>`SELECT
          CASE WHEN EXISTS (SELECT 1 FROM runs WHERE ${isOrphan(nodeId, now)}) THEN 1 ELSE 0 END AS orphans,
          (SELECT min(due_at) FROM deliveries WHERE due_at < ${parkedTime}) AS next_due_at,
          CASE WHEN EXISTS (SELECT 1 FROM deliveries WHERE due_at = ${parkedTime}) THEN 1 ELSE 0 END AS parked,
          CASE WHEN EXISTS (SELECT 1 FROM workflow_waits WHERE ${sql.literal(isAwaiting)}) THEN 1 ELSE 0 END AS awaiting,
          CASE WHEN EXISTS (SELECT 1 FROM workflow_waits WHERE ${sql.literal(isInvoking)}) THEN 1 ELSE 0 END AS invoking,
          CASE WHEN EXISTS (SELECT 1 FROM removed_projects) THEN 1 ELSE 0 END AS removals,
          (SELECT min(due_at) FROM schedules) AS next_tick_at,
          CASE WHEN EXISTS (SELECT 1 FROM operations WHERE ended_at IS NULL AND lease_until < ${now})
            THEN 1 ELSE 0 END AS operations,
          (SELECT min(due_at) FROM alert_rules WHERE enabled = 1) AS next_alert_at,
          (SELECT count(*) || ':' || coalesce(sum(changed_at + coalesce(resumed_at, 0)), 0) FROM pauses)
            AS pauses_version,
          (SELECT count(*) || ':' || coalesce(sum(started_at + coalesce(ended_at, 0)), 0) FROM canaries)
            AS canaries_version`,
        ([row]) => toPendingWork(row)
      )

    const reap = Effect.fnUntraced(function* (nodeId: NodeId, now: Timestamp, limit: number, own?: LocalRunSet) {
      const dead = yield* orphans(nodeId, now, limit)
      const remaining = limit - dead.length
      const held =
        own === undefined || remaining === 0 ? dead : [...dead, ...(yield* unknownRuns(nodeId, own, remaining))]
      const deltas = new CountDeltas()
      const requeues: Rows = []
      const ends: Rows = []
      const suspensions: Rows = []
      const waiting = formatWaiting(lostNode(now))
      const lost = held.map(({ delivery_id, first_run_id, logs, ...row }): Run => {
        if (row.activations !== null && delivery_id !== null) {
          const suspension = { waiting, logs, at: now, due_at: now, cleanup_until: null, steps: [] }
          suspendRow.append(suspensions, toSuspendRow({ run: row, deliveryId: delivery_id }, suspension, []))
          return { ...row, waiting }
        }
        const run = loseRun(row, "NodeLost", "The process that ran this function is gone", now)
        deltas.addEndedRun(run, storedBytes(run, logs))
        endRow.append(ends, toEndRow(run, logs, delivery_id))
        const next = { attempt: run.attempt, due_at: now, first_run_id }
        if (delivery_id !== null) requeueRow.append(requeues, toRequeueRow(run, delivery_id, next))
        return run
      })
      yield* statements.requeueDeliveries.run(requeues)
      yield* statements.endRuns.run(ends)
      yield* statements.suspendDeliveries.run(suspensions)
      yield* statements.suspendRuns.run(suspensions)
      yield* statements.countRuns.run(deltas.runRows())
      if (lost.length < limit && !exclusive) yield* sql`DELETE FROM leases WHERE until < ${now}`
      return lost
    })

    const unpark = (groups: ReadonlyArray<Group>, now: Timestamp) => unparkGroups(database, statements, groups, now)

    const claim = Effect.fnUntraced(function* (request: ClaimRequest) {
      const due = claimDue(database, statements, cursor, request, toLeaseRows(request.lease))
      if (request.freed.length === 0) return { ...(yield* transaction(due)), unparked: 0 }
      const unparkFreed = unpark(request.freed, request.now)
      // Two transactions: both lock groups, and nodes that lock more groups while they hold some could deadlock.
      if (!exclusive) return { unparked: yield* transaction(unparkFreed), ...(yield* transaction(due)) }
      return yield* transaction(
        Effect.flatMap(unparkFreed, (unparked) => Effect.map(due, (rest) => ({ ...rest, unparked })))
      )
    })

    return JournalStore.of({
      commitsMax: exclusive ? 1 : sharedCommitsMax,

      commit: (entries, lease) => {
        const rows = toLeaseRows(lease)
        return atomically(applyAll(statements, entries, rows)).pipe(
          Effect.catchTag("UnexpectedRowCount", () =>
            transaction(Effect.andThen(statements.renewLeases.run(rows), applyEach(statements, entries)))
          ),
          orUnavailable("commit")
        )
      },

      count: (batch) => transaction(addCounts(database, statements, batch)).pipe(orUnavailable("count")),

      claim: (request) => claim(request).pipe(orUnavailable("claim")),

      unpark: (groups, now) => sql.withTransaction(unpark(groups, now)).pipe(orUnavailable("unpark")),

      parked: (after, limit) => parkedGroups(database, after, limit).pipe(orUnavailable("parked")),

      reap: (nodeId, now, limit, own) => sql.withTransaction(reap(nodeId, now, limit, own)).pipe(orUnavailable("reap")),

      findPendingWork: (nodeId, now) => look(nodeId, now).pipe(orUnavailable("look")),

      endLease: (nodeId) => leave(nodeId).pipe(orUnavailable("leave")),

      purgeWhole: () => Effect.succeed(0),

      purge: (envId, before, limit, of) =>
        purgeEnded(database, statements, { envId, before, limit, of }).pipe(orUnavailable("purge"))
    })
  })
)

const makeCursor = (database: Database["Service"]): ClaimCursor => ({
  last: "",
  parseTerms: makeTermsParser(),
  postponeThrottled: makePostponeThrottled(database)
})

/** Condition of the partial index of waits for events. */
const isAwaiting = "event_type IS NOT NULL AND outcome IS NULL"

/** Condition of the partial index of waits for child runs. */
const isInvoking = "child_event_id IS NOT NULL AND outcome IS NULL"

interface PendingRow {
  readonly orphans: number
  readonly next_due_at: Timestamp | null
  readonly parked: number
  readonly awaiting: number
  readonly invoking: number
  readonly removals: number
  readonly next_tick_at: Timestamp | null
  readonly operations: number
  readonly next_alert_at: Timestamp | null
  readonly pauses_version: string
  readonly canaries_version: string
}

const toPendingWork = (row: PendingRow | undefined): PendingWork => ({
  orphans: row?.orphans === 1,
  next_due_at: row?.next_due_at ?? null,
  parked: row?.parked === 1,
  removals: row?.removals === 1,
  awaiting: row?.awaiting === 1,
  invoking: row?.invoking === 1,
  next_tick_at: row?.next_tick_at ?? null,
  operations: row?.operations === 1,
  next_alert_at: row?.next_alert_at ?? null,
  pauses_version: row?.pauses_version ?? "",
  canaries_version: row?.canaries_version ?? ""
})

interface HeldDelivery {
  readonly delivery_id: string | null
  readonly first_run_id: RunId | null
  /** Log lines stored so far, as JSON text. */
  readonly logs: string | null
}
