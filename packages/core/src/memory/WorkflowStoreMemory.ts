/** `WorkflowStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { EventValues, formatOutcome, isAwaited } from "../runtime/runs/EventMatch.ts"
import { parkedAt } from "../runtime/runs/Group.ts"
import { emptyHistory } from "../runtime/runs/Workflow.ts"
import { type AwaitedEvents, WorkflowStore } from "../runtime/runs/WorkflowStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<WorkflowStore, never, MemoryDatabase> = Layer.effect(
  WorkflowStore,
  Effect.gen(function* () {
    const { runs, logs, histories, cleanups, deliveries, events } = yield* MemoryDatabase

    return WorkflowStore.of({
      load: ({ env_id, run_id }) =>
        Effect.sync(() =>
          runs.get(run_id)?.env_id === env_id
            ? {
                history: histories.get(run_id) ?? emptyHistory,
                logs: logs.get(run_id) ?? [],
                cleanup_until: cleanups.get(run_id) ?? null
              }
            : { history: emptyHistory, logs: [], cleanup_until: null }
        ),

      cleanups: (refs) =>
        Effect.sync(() =>
          refs.flatMap(({ env_id, run_id }) => {
            const until = cleanups.get(run_id)
            return until === undefined || runs.get(run_id)?.env_id !== env_id ? [] : [{ run_id, until }]
          })
        ),

      steps: ({ env_id, run_id }, page) =>
        Effect.sync(() =>
          toPage(runs.get(run_id)?.env_id === env_id ? (histories.get(run_id)?.steps ?? []) : [], page)
        ),

      awaited: Effect.sync(() => {
        const awaited = new Map<string, AwaitedEvents>()
        for (const [run_id, { waits }] of histories) {
          const run = runs.get(run_id)
          if (run?.status !== "running") continue
          for (const { event_type, outcome, since } of waits) {
            if (event_type === null || outcome !== null) continue
            const key = `${run.env_id} ${event_type}`
            const earlier = awaited.get(key)?.since ?? since
            awaited.set(key, { env_id: run.env_id, event_type, since: since < earlier ? since : earlier })
          }
        }
        return [...awaited.values()]
      }),

      arrive: (event, at) =>
        Effect.sync(() => {
          const values = new EventValues(event)
          const outcome = formatOutcome(event)
          const found = [...histories].flatMap(([run_id, history]) => {
            const run = runs.get(run_id)
            if (run?.status !== "running" || run.env_id !== event.env_id) return []
            const waits = history.waits.map((wait) => (isAwaited(wait, event, values) ? { ...wait, outcome } : wait))
            if (waits.every((wait, index) => wait === history.waits[index])) return []
            histories.set(run_id, { ...history, waits })
            return [{ env_id: run.env_id, run_id }]
          })
          for (const [id, row] of deliveries) {
            const { delivery, run_id } = row
            if (run_id !== null || !found.some((run) => run.run_id === delivery.continues)) continue
            if (delivery.due_at > at && delivery.due_at !== parkedAt)
              deliveries.set(id, { ...row, delivery: { ...delivery, due_at: at } })
          }
          return found
        }),

      arrived: ({ env_id, run_id }) =>
        Effect.sync(() =>
          runs.get(run_id)?.env_id === env_id
            ? (histories.get(run_id)?.waits ?? []).filter(({ outcome }) => outcome !== null)
            : []
        ),

      eventsSince: ({ env_id, event_type, since }, after, limit) =>
        Effect.sync(() => {
          const found = [...events.values()]
            .filter((event) => event.env_id === env_id && event.event_type === event_type && event.created_at >= since)
            .filter((event) => after === null || compareText(event.event_id, after) > 0)
            .sort((a, b) => compareText(a.event_id, b.event_id))
          const page = found.slice(0, limit)
          return { events: page, next: found.length > limit ? (page.at(-1)?.event_id ?? null) : null }
        })
    })
  })
)
