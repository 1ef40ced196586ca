/** `SeriesStore` on SQL. */
import type { EnvId } from "@weft/core"
import {
  type MinuteCounts,
  type ProjectId,
  type SeriesKey,
  type SeriesSelection,
  SeriesStore,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { batched } from "./Batch.ts"
import { Database, orUnavailable, repeatConflicts } from "./Database.ts"
import { minuteCountsRow } from "./rows/SeriesRows.ts"

export const layer: Layer.Layer<SeriesStore, never, Database> = Layer.effect(
  SeriesStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const insert = batched(writer, dialect, {
      row: minuteCountsRow,
      text: (rows) => `INSERT INTO run_series (${minuteCountsRow.list}) ${rows}
        ON CONFLICT (env_id, at, project_id, ns, var, node_id) DO UPDATE SET project_name = excluded.project_name,
          succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
          retried = excluded.retried, wait = excluded.wait, duration = excluded.duration`
    })

    const condition = (
      envId: EnvId,
      { from, to, projectId, fn, only }: SeriesSelection,
      after: SeriesKey | null
    ): Statement.Fragment => {
      const terms: Array<Statement.Fragment> = [reader`env_id = ${envId} AND at >= ${from} AND at < ${to}`]
      if (projectId !== undefined) terms.push(reader`project_id = ${projectId}`)
      if (fn !== undefined) terms.push(reader`ns = ${fn.ns} AND var = ${fn.var}`)
      if (only !== undefined) {
        const among = dialect.among(reader, only)
        terms.push(reader`(project_id ${among} OR project_name ${among})`)
      }
      if (after !== null) {
        const { at, project_id, ns, var: name, node_id } = after
        terms.push(
          reader`(at, project_id, ns, var, node_id) > (${at}, ${project_id ?? ""}, ${ns}, ${name}, ${node_id})`
        )
      }
      return reader.and(terms)
    }

    return SeriesStore.of({
      save: (rows) =>
        repeatConflicts(writer.withTransaction(insert.run(minuteCountsRow.encode(rows.map(toRow))))).pipe(
          Effect.asVoid,
          orUnavailable("save")
        ),

      read: (envId, selection, after, limit) =>
        reader<Row>`SELECT ${reader.literal(minuteCountsRow.list)} FROM run_series
          WHERE ${condition(envId, selection, after)}
          ORDER BY at, project_id, ns, var, node_id LIMIT ${limit}`.pipe(
          Effect.map((rows) => rows.map(toMinuteCounts)),
          orUnavailable("read")
        ),

      lastSuccess: (envId, selection) =>
        reader<{ readonly at: Timestamp }>`SELECT at FROM run_series
          WHERE ${condition(envId, selection, null)} AND succeeded > 0 ORDER BY at DESC LIMIT 1`.pipe(
          Effect.map(([row]) => row?.at ?? null),
          orUnavailable("lastSuccess")
        ),

      purge: (envId, before, limit) =>
        Effect.map(
          writer`DELETE FROM run_series WHERE env_id = ${envId} AND (at, project_id, ns, var, node_id) IN (
            SELECT at, project_id, ns, var, node_id FROM run_series WHERE env_id = ${envId} AND at < ${before}
            ORDER BY at LIMIT ${limit}
          )`.raw,
          dialect.changes
        ).pipe(orUnavailable("purge"))
    })
  })
)

/** A row; `project_id` is empty for functions beyond the maximum of an environment. */
interface Row extends Omit<MinuteCounts, "project_id"> {
  readonly project_id: ProjectId | ""
}

const toRow = (counts: MinuteCounts): Row => ({ ...counts, project_id: counts.project_id ?? "" })

const toMinuteCounts = (row: Row): MinuteCounts => ({
  ...row,
  project_id: row.project_id === "" ? null : row.project_id
})
