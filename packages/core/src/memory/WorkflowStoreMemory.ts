/** `WorkflowStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { RunId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { isAwaited } from "../runtime/runs/EventMatch.ts"
import { parkedAt } from "../runtime/runs/Group.ts"
import type { Run } from "../runtime/runs/Run.ts"
import { formatEvent } from "../runtime/runs/Trigger.ts"
import { emptyHistory, findSleep, formatWaiting, type OpenWait } from "../runtime/runs/Workflow.ts"
import { type AwaitedEvents, type Wakeup, WorkflowStore } from "../runtime/runs/WorkflowStore.ts"
import { compareText, MemoryDatabase, toBoundedPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<WorkflowStore, never, MemoryDatabase> = Layer.effect(
  WorkflowStore,
  Effect.gen(function* () {
    const database = yield* MemoryDatabase
    const { runs, logs, histories, cleanups, events } = database

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
          toBoundedPage(
            runs.get(run_id)?.env_id === env_id ? (histories.get(run_id)?.steps ?? []) : [],
            page,
            ({ result }) => result
          )
        ),

      openWaits: ({ env_id, run_id }, limit) =>
        Effect.sync(() =>
          (runs.get(run_id)?.env_id === env_id ? (histories.get(run_id)?.waits ?? []) : [])
            .filter(({ seq, outcome }) => seq >= 0 && outcome === null)
            .map(({ outcome: _, match: __, token_seq: ___, ...wait }): OpenWait => wait)
            .slice(0, limit)
        ),

      wake: ({ env_id, run_id }, at) =>
        Effect.suspend(() => {
          const run = runs.get(run_id)
          if (run?.env_id !== env_id) return Effect.fail(new NotFound({ resource: "run" }))
          return Effect.sync(() => wake(database, run, at))
        }),

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
          const data: unknown = JSON.parse(event.event_data)
          const found = [...histories].flatMap(([run_id, history]) => {
            const run = runs.get(run_id)
            if (run?.status !== "running" || run.env_id !== event.env_id) return []
            const waits = history.waits.map((wait) =>
              isAwaited(wait, event, data) ? { ...wait, outcome: formatEvent(event) } : wait
            )
            if (waits.every((wait, index) => wait === history.waits[index])) return []
            histories.set(run_id, { ...history, waits })
            return [{ env_id: run.env_id, run_id }]
          })
          makeDue(
            database,
            found.map(({ run_id }) => run_id),
            at
          )
          return found
        }),

      eventsSince: ({ env_id, event_type, since }, after, limit) =>
        Effect.sync(() =>
          [...events.values()]
            .filter((event) => event.env_id === env_id && event.event_type === event_type && event.created_at >= since)
            .filter((event) => after === null || event.event_id > after)
            .sort((a, b) => compareText(a.event_id, b.event_id))
            .slice(0, limit)
        )
    })
  })
)

type Database = MemoryDatabase["Service"]

/** Makes the deliveries of suspended runs due at `at`, unless they are due earlier or parked. */
const makeDue = ({ deliveries }: Database, runIds: ReadonlyArray<RunId>, at: Timestamp): void => {
  for (const [id, row] of deliveries) {
    const { delivery, run_id } = row
    if (run_id !== null || delivery.continues === null || !runIds.includes(delivery.continues)) continue
    if (delivery.due_at > at && delivery.due_at !== parkedAt)
      deliveries.set(id, { ...row, delivery: { ...delivery, due_at: at } })
  }
}

const wake = (db: Database, run: Run, at: Timestamp): Wakeup => {
  const sleep = findSleep(run)
  if (sleep === null) return { run, isWoken: false }
  const { kind, name, until, waiting } = sleep
  if (until <= at) return { run, isWoken: true }
  const history = db.histories.get(run.run_id) ?? emptyHistory
  const ended = history.waits.find((wait) => wait.kind === kind && wait.name === name && wait.until === until)
  if (ended === undefined) return { run, isWoken: false }
  const woken = { ...run, waiting: formatWaiting({ ...waiting, until: at }) }
  db.runs.set(run.run_id, woken)
  db.histories.set(run.run_id, {
    ...history,
    waits: history.waits.map((wait) => (wait === ended ? { ...wait, until: at } : wait))
  })
  makeDue(db, [run.run_id], at)
  return { run: woken, isWoken: true }
}
