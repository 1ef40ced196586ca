/** Lists of what durable runs have done and wait for. */
import type { OpenWait, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Database, orUnavailable, readCount } from "./Database.ts"
import { loadLargeTexts, textIfSmall } from "./LargeTexts.ts"
import { openWaitFields, type StoredStep, stepFields, stepFieldsButResult, toStep } from "./rows/WorkflowRows.ts"

type Count = { readonly n: number | null }

export const workflowReads = ({
  dialect,
  reader: sql
}: Database["Service"]): Pick<WorkflowStore["Service"], "steps" | "openWaits"> => ({
  steps: ({ env_id, run_id }, { limit, offset }) => {
    const of = sql`env_id = ${env_id} AND run_id = ${run_id}`
    const found = sql<StoredStep & { readonly text_bytes: number }>`
      SELECT ${sql.literal(stepFieldsButResult)}, ${textIfSmall(sql, "result")} FROM workflow_steps WHERE ${of}
      ORDER BY position LIMIT ${limit} OFFSET ${offset}`
    const whole = (positions: ReadonlyArray<number>) => {
      const texts = dialect.texts(sql, positions.map(String))
      return sql<StoredStep>`SELECT ${sql.literal(stepFields)} FROM workflow_steps
        WHERE ${of} AND position IN (SELECT CAST(value AS ${sql.literal(dialect.types.integer)}) FROM (${texts}) AS listed)`
    }
    return Effect.all({
      items: Effect.flatMap(found, (rows) =>
        Effect.map(
          loadLargeTexts(rows, "position", whole, ({ text_bytes, ...step }): StoredStep => step),
          (steps) => steps.map(toStep)
        )
      ),
      total: readCount(sql<Count>`SELECT count(*) AS n FROM workflow_steps WHERE ${of}`)
    }).pipe(orUnavailable("steps"))
  },

  openWaits: ({ env_id, run_id }, limit) =>
    sql<OpenWait>`SELECT ${sql.literal(openWaitFields)} FROM workflow_waits
      WHERE env_id = ${env_id} AND run_id = ${run_id} AND seq >= 0 AND outcome IS NULL
      ORDER BY seq LIMIT ${limit}`.pipe(orUnavailable("openWaits"))
})
