/** Reads the histories of many runs with three statements, as long as they are small. */
import type { EnvId } from "@weft/core"
import type { LoadedRun, RunId, Timestamp, WaitRecord } from "@weft/core/adapter"
import { Effect } from "effect"
import type { Database } from "./Database.ts"
import { type Sized, textIfSmall } from "./LargeTexts.ts"
import { parseLogs } from "./rows/RunRows.ts"
import { type StoredStep, stepFieldsButResult, toStep, waitFieldsButOutcome } from "./rows/WorkflowRows.ts"

/** Maximum steps, and maximum waits, of all runs together. */
const rowsMax = 2_000

/** Maximum bytes of a result, an outcome and a log. */
const textBytesMax = 4 * 1024

interface OfRun extends Sized {
  readonly run_id: RunId
}

/** Returns the function `loadSmall`. */
export const makeLoadSmall = ({ dialect, reader: sql }: Pick<Database["Service"], "dialect" | "reader">) => {
  const small = (column: string) => textIfSmall(sql, column, textBytesMax)

  return Effect.fnUntraced(function* (envId: EnvId, runs: ReadonlyArray<RunId>) {
    const of = sql`env_id = ${envId} AND run_id ${dialect.among(sql, runs)}`
    const steps = yield* sql<StoredStep & OfRun>`
      SELECT run_id, ${sql.literal(stepFieldsButResult)}, ${small("result")}
      FROM workflow_steps WHERE ${of} ORDER BY run_id, position LIMIT ${rowsMax}`
    const waits = yield* sql<WaitRecord & OfRun>`
      SELECT run_id, ${sql.literal(waitFieldsButOutcome)}, ${small("outcome")}
      FROM workflow_waits WHERE ${of} ORDER BY run_id, seq LIMIT ${rowsMax}`
    const found = yield* sql<OfRun & { readonly logs: string | null; readonly cleanup_until: Timestamp | null }>`
      SELECT run_id, ${small("logs")}, cleanup_until FROM runs WHERE ${of}`

    const stepsOf = Map.groupBy(steps, ({ run_id }) => run_id)
    const waitsOf = Map.groupBy(waits, ({ run_id }) => run_id)
    const runOf = new Map(found.map((run) => [run.run_id, run]))
    const large = new Set([steps, waits, found].flatMap(listLarge))
    const loaded = runs.flatMap((run_id): ReadonlyArray<readonly [RunId, LoadedRun]> => {
      if (large.has(run_id) || isCut(steps, run_id) || isCut(waits, run_id)) return []
      const run = runOf.get(run_id)
      const history = {
        steps: (stepsOf.get(run_id) ?? []).map((step) => toStep(toRecord(step))),
        waits: (waitsOf.get(run_id) ?? []).map(toRecord)
      }
      return [[run_id, { history, logs: parseLogs(run?.logs ?? null), cleanup_until: run?.cleanup_until ?? null }]]
    })
    return new Map(loaded)
  })
}

const toRecord = <Row extends OfRun>({ run_id: _, text_bytes: __, ...record }: Row): Omit<Row, keyof OfRun> => record

/** Returns the runs of rows whose text was omitted. */
const listLarge = (rows: ReadonlyArray<OfRun>): ReadonlyArray<RunId> =>
  rows.flatMap(({ run_id, text_bytes }) => (text_bytes > textBytesMax ? [run_id] : []))

/** True if rows of the run may be beyond the limit. `rows` are in the order of their runs. */
const isCut = (rows: ReadonlyArray<OfRun>, runId: RunId): boolean => {
  const last = rows.length < rowsMax ? undefined : rows.at(-1)
  return last !== undefined && runId >= last.run_id
}
