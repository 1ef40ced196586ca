/** `UsageStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { utf8Length } from "../foundation/Utf8.ts"
import { UsageStore } from "../tenants/orgs/UsageStore.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<UsageStore, never, MemoryDatabase> = Layer.effect(
  UsageStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase

    return UsageStore.of({
      pendingDeliveries: (envId, limit) =>
        Effect.sync(() => {
          const pending = [...db.deliveries.values()].filter(
            ({ delivery, run_id }) => run_id === null && delivery.env_id === envId
          )
          return Math.min(limit, pending.length)
        }),

      dynamicSchedules: (envId, limit) =>
        Effect.sync(() => {
          const schedules = [...db.schedules.values()].filter(
            ({ env_id, kind }) => env_id === envId && kind === "dynamic"
          )
          return Math.min(limit, schedules.length)
        }),

      runs: (orgId, month) =>
        Effect.sync(() => {
          const isOfOrg = (run: { readonly env_id: string }) =>
            [...db.envs.values()].some((env) => env.org_id === orgId && env.env_id === run.env_id)
          const stored = [...db.runs.values()].filter(isOfOrg)
          const began = [...stored, ...db.removedRuns.filter(isOfOrg)].filter(
            (run) => run.start_time >= month.start && run.start_time < month.end
          )
          const bytes = stored.map(({ run_id, result }) => {
            const logs = db.logs.get(run_id) ?? []
            return utf8Length(result ?? "") + (logs.length === 0 ? 0 : utf8Length(JSON.stringify(logs)))
          })
          return {
            runs_this_period: began.length,
            call_count: stored.length,
            call_storage_bytes: bytes.reduce((sum, size) => sum + size, 0)
          }
        }),

      suspended: (envId, limit) =>
        Effect.sync(() => {
          const suspended = [...db.runs.values()].filter(
            ({ env_id, status, waiting }) => env_id === envId && status === "running" && waiting !== null
          )
          return Math.min(limit, suspended.length)
        })
    })
  })
)
