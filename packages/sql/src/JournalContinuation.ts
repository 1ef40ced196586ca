/** Deliveries that continue suspended runs, in the transaction of a claim. */
import {
  type Claim,
  type ClaimRequest,
  continueRun,
  type Delivery,
  DeliveryId,
  type Run,
  type RunId
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import { runColumns } from "./rows/RunRows.ts"

/** A due delivery that may continue a run. */
type DueRow = Pick<Delivery, "env_id" | "delivery_id" | "continues">

/** The suspended runs of due deliveries. */
export interface Suspended<Row> {
  readonly runs: ReadonlyMap<RunId, Run>
  /** Deliveries of runs that have ended. */
  readonly stale: ReadonlyArray<Row>
  /** True if another transaction holds some of the runs. Their deliveries remain due. */
  readonly isBusy: boolean
}

/**
 * Locks the suspended runs of the deliveries. It does not wait for a transaction that holds one of them: a cancellation, for
 * example, waits for deliveries that this transaction has locked.
 */
export const lockSuspended = Effect.fnUntraced(function* <Row extends DueRow>(
  { dialect, writer: sql }: Database["Service"],
  rows: ReadonlyArray<Row>
): Effect.fn.Return<Suspended<Row>, SqlError.SqlError> {
  const continuing = rows.filter(({ continues }) => continues !== null)
  if (continuing.length === 0) return { runs: new Map(), stale: [], isBusy: false }
  const envs = [...new Set(continuing.map(({ env_id }) => env_id))]
  const ids = continuing.flatMap(({ continues }) => continues ?? [])
  // A literal, so that the planner does not use the index of running runs for ids.
  const suspended = sql.literal("status || '' = 'running'")
  const of = sql`env_id ${dialect.among(sql, envs)} AND run_id ${dialect.among(sql, ids)}`
  const locked = yield* sql<Run>`SELECT ${sql.literal(runColumns)} FROM runs
    WHERE ${of} AND ${suspended}${sql.literal(dialect.skipLocked)}`
  const runs = new Map(locked.map((run) => [run.run_id, run]))
  const missing = continuing.filter(({ continues }) => continues !== null && !runs.has(continues))
  if (missing.length === 0) return { runs, stale: [], isBusy: false }
  const others = yield* sql<Pick<Run, "run_id">>`SELECT run_id FROM runs WHERE ${of} AND ${suspended}`
  const busy = new Set<RunId | null>(others.map(({ run_id }) => run_id))
  const stale = missing.filter(({ continues }) => !busy.has(continues))
  return { runs, stale, isBusy: stale.length < missing.length }
})

/** Returns the claim of a suspended run. It holds a new delivery, so that no earlier holder can write. */
export const continueClaim = (
  run: Run,
  { delivery, ...claim }: Omit<Claim, "run">,
  id: RunId,
  { lease }: ClaimRequest
): Claim => ({
  ...claim,
  delivery: { ...delivery, delivery_id: DeliveryId.make(id) },
  run: continueRun(run, lease.node_id)
})
