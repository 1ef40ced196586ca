/** `SeriesStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { MinuteCounts } from "../runtime/runs/MinuteCounts.ts"
import { type SeriesKey, type SeriesSelection, SeriesStore } from "../runtime/runs/SeriesStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<SeriesStore, never, MemoryDatabase> = Layer.effect(
  SeriesStore,
  Effect.map(MemoryDatabase, (db) =>
    SeriesStore.of({
      save: (rows) =>
        Effect.sync(() => {
          for (const row of rows) db.series.set(`${row.env_id} ${toKeyText(row)}`, row)
        }),

      read: (envId, selection, after, limit) =>
        Effect.sync(() =>
          [...db.series.values()]
            .filter((row) => row.env_id === envId && isSelected(row, selection))
            .filter((row) => after === null || compareKeys(row, after) > 0)
            .sort(compareKeys)
            .slice(0, limit)
        ),

      lastSuccess: (envId, selection) =>
        Effect.sync(() => {
          const succeeded = [...db.series.values()].filter(
            (row) => row.env_id === envId && row.succeeded > 0 && isSelected(row, selection)
          )
          return succeeded.sort(compareKeys).at(-1)?.at ?? null
        }),

      purge: (envId, before, limit) =>
        Effect.sync(() => {
          const expired = [...db.series].filter(([, { env_id, at }]) => env_id === envId && at < before).slice(0, limit)
          for (const [key] of expired) db.series.delete(key)
          return expired.length
        })
    })
  )
)

const isSelected = (row: MinuteCounts, { from, to, projectId, fn, only }: SeriesSelection): boolean =>
  row.at >= from &&
  row.at < to &&
  (projectId === undefined || row.project_id === projectId) &&
  (fn === undefined || (row.ns === fn.ns && row.var === fn.var)) &&
  (only === undefined || only.includes(row.project_id ?? "") || only.includes(row.project_name))

const toKeyText = ({ at, project_id, ns, var: name, node_id }: MinuteCounts): string =>
  [at, project_id ?? "", ns, name, node_id].join("\n")

const compareKeys = (a: SeriesKey, b: SeriesKey): number =>
  a.at - b.at ||
  compareText(a.project_id ?? "", b.project_id ?? "") ||
  compareText(a.ns, b.ns) ||
  compareText(a.var, b.var) ||
  compareText(a.node_id, b.node_id)
