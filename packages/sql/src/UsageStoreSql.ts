/** `UsageStore` on SQL. Reads the journal's stored counts, and counts the few running runs. */
import { UsageStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, orUnavailable, readCount } from "./Database.ts"

export const layer: Layer.Layer<UsageStore, never, Database> = Layer.effect(
  UsageStore,
  Effect.gen(function* () {
    const { reader } = yield* Database

    return UsageStore.of({
      pendingDeliveries: (envId, limit) =>
        readCount(reader<{ n: number }>`SELECT count(*) AS n FROM (
          SELECT 1 FROM deliveries WHERE env_id = ${envId} LIMIT ${limit}
        ) AS pending`).pipe(orUnavailable("pendingDeliveries")),

      dynamicSchedules: (envId, limit) =>
        readCount(reader<{ n: number }>`SELECT count(*) AS n FROM (
          SELECT 1 FROM schedules WHERE env_id = ${envId} AND kind = 'dynamic' LIMIT ${limit}
        ) AS stored`).pipe(orUnavailable("dynamicSchedules")),

      runs: (orgId, month) => {
        const envs = reader`SELECT env_id FROM envs WHERE org_id = ${orgId}`
        // One statement, so that a run that ends meanwhile is counted once.
        const sums = reader<Row>`
          SELECT sum(CASE WHEN month = ${month.start} THEN month_runs ELSE 0 END) AS began, sum(n) AS stored,
            sum(bytes) AS bytes
          FROM run_counts WHERE env_id IN (${envs})
          UNION ALL
          SELECT sum(CASE WHEN start_time >= ${month.start} AND start_time < ${month.end} THEN 1 ELSE 0 END),
            count(*), 0
          FROM runs WHERE status = 'running' AND env_id IN (${envs})`
        return sums.pipe(Effect.map(toUsage), orUnavailable("usage"))
      },

      suspended: (envId, limit) =>
        readCount(reader<{ readonly n: number }>`SELECT count(*) AS n FROM (
          SELECT 1 FROM runs WHERE env_id = ${envId} AND status = 'running' AND waiting_for IS NOT NULL LIMIT ${limit}
        ) AS suspended`).pipe(orUnavailable("suspended"))
    })
  })
)

interface Row {
  readonly began: number | null
  readonly stored: number | null
  readonly bytes: number | null
}

const toUsage = (rows: ReadonlyArray<Row>) => {
  const usage = { runs_this_period: 0, call_count: 0, call_storage_bytes: 0 }
  for (const { began, stored, bytes } of rows) {
    usage.runs_this_period += began ?? 0
    usage.call_count += stored ?? 0
    usage.call_storage_bytes += bytes ?? 0
  }
  return usage
}
