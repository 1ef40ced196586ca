/** `SeriesStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { MinuteCounts } from "../runtime/runs/MinuteCounts.ts"
import { type SeriesKey, SeriesStore } from "../runtime/runs/SeriesStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<SeriesStore, never, MemoryDatabase> = Layer.effect(
  SeriesStore,
  Effect.map(MemoryDatabase, (db) =>
    SeriesStore.of({
      save: (rows) =>
        Effect.sync(() => {
          for (const row of rows) db.series.set(`${row.env_id} ${toKeyText(row)}`, row)
        }),

      read: (envId, { from, to, projectId, fn, only }, after, limit) =>
        Effect.sync(() =>
          [...db.series.values()]
            .filter(
              (row) =>
                row.env_id === envId &&
                row.at >= from &&
                row.at < to &&
                (projectId === undefined || row.project_id === projectId) &&
                (fn === undefined || (row.ns === fn.ns && row.var === fn.var)) &&
                (only === undefined || only.includes(row.project_id ?? "") || only.includes(row.project_name)) &&
                (after === null || compareKeys(row, after) > 0)
            )
            .sort(compareKeys)
            .slice(0, limit)
        ),

      purge: (envId, before, limit) =>
        Effect.sync(() => {
          const expired = [...db.series].filter(([, { env_id, at }]) => env_id === envId && at < before).slice(0, limit)
          for (const [key] of expired) db.series.delete(key)
          return expired.length
        })
    })
  )
)

const toKeyText = ({ at, project_id, ns, var: name, node_id }: MinuteCounts): string =>
  [at, project_id ?? "", ns, name, node_id].join("\n")

const compareKeys = (a: SeriesKey, b: SeriesKey): number =>
  a.at - b.at ||
  compareText(a.project_id ?? "", b.project_id ?? "") ||
  compareText(a.ns, b.ns) ||
  compareText(a.var, b.var) ||
  compareText(a.node_id, b.node_id)
