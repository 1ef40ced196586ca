/** Ends the wait of a sleeping run early. */
import { NotFound } from "@weft/core"
import {
  findSleep,
  formatWaiting,
  parkedAt,
  type Run,
  type RunRef,
  type Timestamp,
  type Wakeup
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import { runColumns } from "./rows/RunRows.ts"

/** Returns `wake` of a `WorkflowStore`, for a transaction. It locks the run, then its wait, then its delivery. */
export const makeWake = ({ dialect, writer: sql }: Database["Service"]) =>
  Effect.fnUntraced(function* (
    { env_id, run_id }: RunRef,
    at: Timestamp
  ): Effect.fn.Return<Wakeup, NotFound | SqlError.SqlError> {
    const lock = sql.literal(dialect.forUpdate())
    const of = sql`env_id = ${env_id} AND run_id = ${run_id}`
    const [run] = yield* sql<Run>`SELECT ${sql.literal(runColumns)} FROM runs WHERE ${of}${lock}`
    if (run === undefined) return yield* new NotFound({ resource: "run" })
    const sleep = findSleep(run)
    if (sleep === null) return { run, isWoken: false }
    const { kind, name, until } = sleep
    if (until <= at) return { run, isWoken: true }
    const [wait] = yield* sql<{ readonly seq: number }>`SELECT seq FROM workflow_waits
      WHERE ${of} AND kind = ${kind} AND name = ${name} AND until = ${until} ORDER BY seq LIMIT 1${lock}`
    if (wait === undefined) return { run, isWoken: false }
    yield* sql`UPDATE workflow_waits SET until = ${at} WHERE ${of} AND seq = ${wait.seq}`
    yield* sql`UPDATE deliveries SET due_at = ${at} WHERE (env_id, due_at, delivery_id) IN (
      SELECT env_id, due_at, delivery_id FROM deliveries
      WHERE env_id = ${env_id} AND continues = ${run_id} AND due_at > ${at} AND due_at <> ${parkedAt}${lock})`
    const waiting = formatWaiting({ ...sleep.waiting, until: at })
    yield* sql`UPDATE runs SET waiting = ${waiting} WHERE ${of}`
    return { run: { ...run, waiting }, isWoken: true }
  })
