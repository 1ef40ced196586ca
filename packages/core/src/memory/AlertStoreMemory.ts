/** `AlertStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { AlertStore } from "../runtime/runs/AlertStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

const notFound = new NotFound({ resource: "alert" })

export const layer: Layer.Layer<AlertStore, never, MemoryDatabase> = Layer.effect(
  AlertStore,
  Effect.map(MemoryDatabase, (db) =>
    AlertStore.of({
      insert: (alert) => Effect.sync(() => void db.alerts.set(alert.alert_id, alert)),

      get: (envId, id) =>
        Effect.suspend(() => {
          const alert = db.alerts.get(id)
          return alert?.env_id === envId ? Effect.succeed(alert) : Effect.fail(notFound)
        }),

      all: (envId) =>
        Effect.sync(() =>
          [...db.alerts.values()]
            .filter(({ env_id }) => env_id === envId)
            .sort((a, b) => compareText(b.alert_id, a.alert_id))
        ),

      replace: (alert, fence) =>
        Effect.sync(() => {
          const stored = db.alerts.get(alert.alert_id)
          if (stored?.env_id !== alert.env_id || stored.due_at !== fence) return false
          db.alerts.set(alert.alert_id, alert)
          return true
        }),

      remove: (envId, id) =>
        Effect.suspend(() => {
          if (db.alerts.get(id)?.env_id !== envId) return Effect.fail(notFound)
          db.alerts.delete(id)
          return Effect.void
        }),

      claim: (now, until, limit) =>
        Effect.sync(() => {
          const due = [...db.alerts.values()]
            .filter(({ enabled, due_at }) => enabled && due_at <= now)
            .sort((a, b) => a.due_at - b.due_at || compareText(a.alert_id, b.alert_id))
            .slice(0, limit)
            .map((alert) => ({ ...alert, due_at: until }))
          for (const alert of due) db.alerts.set(alert.alert_id, alert)
          return due
        }),

      backlog: ({ env_id, project_id, ns, var: name }, now, limit) =>
        Effect.sync(() => {
          const waits = [...db.deliveries.values()].flatMap(
            ({ delivery, run_id, held_since }): ReadonlyArray<Timestamp> => {
              const isSelected =
                run_id === null &&
                delivery.env_id === env_id &&
                (project_id === null || delivery.project_id === project_id) &&
                (ns === null || (delivery.ns === ns && delivery.var === name))
              const since = held_since ?? delivery.due_at
              return isSelected && since <= now ? [since] : []
            }
          )
          const counted = waits.slice(0, limit)
          return { deliveries: counted.length, oldest: counted.sort((a, b) => a - b)[0] ?? null }
        })
    })
  )
)
