/** `WorkflowStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { RunId } from "../foundation/Ids.ts"
import type { JsonText } from "../foundation/JsonText.ts"
import { countOfPage } from "../foundation/Page.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { utf8Length } from "../foundation/Utf8.ts"
import { formatChildEnd } from "../runtime/runs/ChildRun.ts"
import { EventValues, formatOutcome, isAwaited } from "../runtime/runs/EventMatch.ts"
import { parkedAt } from "../runtime/runs/Group.ts"
import type { Run } from "../runtime/runs/Run.ts"
import type { RunRef } from "../runtime/runs/RunControlStore.ts"
import { emptyHistory, findSleep, formatWaiting, type OpenWait } from "../runtime/runs/Workflow.ts"
import {
  type AwaitedEvents,
  type ChildRef,
  type LoadedRun,
  type Wakeup,
  WorkflowStore
} from "../runtime/runs/WorkflowStore.ts"
import { compareText, MemoryDatabase, toBoundedPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<WorkflowStore, never, MemoryDatabase> = Layer.effect(
  WorkflowStore,
  Effect.gen(function* () {
    const database = yield* MemoryDatabase
    const { runs, logs, histories, cleanups, events, deliveries } = database

    /** Returns the end of a child run as text; null while it has not ended. */
    const findEnd = ({ env_id, event_id }: ChildRef): JsonText | null => {
      if (events.get(event_id)?.env_id !== env_id) return null
      const isPending = [...deliveries.values()].some(
        ({ delivery }) => delivery.event_id === event_id && delivery.run_type === "call"
      )
      const calls = [...runs.values()].filter((run) => run.event_id === event_id && run.run_type === "call")
      if (isPending || calls.some(({ status }) => status === "running")) return null
      calls.sort((a, b) => a.attempt - b.attempt || compareText(a.run_id, b.run_id))
      return formatChildEnd(calls.at(-1) ?? null)
    }

    /** Returns the waits for child runs without an outcome. */
    const openChildren = () =>
      [...histories].flatMap(([run_id, { waits }]) => {
        const run = runs.get(run_id)
        return waits.flatMap(({ seq, child_event_id: event_id, outcome }) =>
          run === undefined || event_id === null || outcome !== null
            ? []
            : [{ env_id: run.env_id, run_id, seq, event_id }]
        )
      })

    const read = ({ env_id, run_id }: RunRef): LoadedRun =>
      runs.get(run_id)?.env_id === env_id
        ? {
            history: histories.get(run_id) ?? emptyHistory,
            logs: logs.get(run_id) ?? [],
            cleanup_until: cleanups.get(run_id) ?? null
          }
        : { history: emptyHistory, logs: [], cleanup_until: null }

    return WorkflowStore.of({
      load: (run) => Effect.sync(() => read(run)),

      loadSmall: (env_id, ids) => Effect.sync(() => new Map(ids.map((run_id) => [run_id, read({ env_id, run_id })]))),

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

      arrive: (arrived, at) =>
        Effect.sync(() => {
          const candidates = arrived.map((event) => ({ event, values: new EventValues(event) }))
          const found = [...histories].flatMap(([run_id, history]) => {
            const run = runs.get(run_id)
            if (run?.status !== "running") return []
            const own = candidates.filter(({ event }) => event.env_id === run.env_id)
            const waits = history.waits.map((wait) => {
              const first = own.find(({ event, values }) => isAwaited(wait, event, values))
              return first === undefined ? wait : { ...wait, outcome: formatOutcome(first.event) }
            })
            if (waits.every((wait, index) => wait === history.waits[index])) return []
            histories.set(run_id, { ...history, waits })
            return [{ env_id: run.env_id, run_id }]
          })
          makeDue(database, found, at)
          return found
        }),

      children: (after, limit) =>
        Effect.sync(() =>
          openChildren()
            .map(({ env_id, event_id }) => ({ env_id, event_id }))
            .sort(compareChildren)
            .filter((each) => after === null || compareChildren(each, after) > 0)
            .slice(0, limit)
        ),

      endChildren: (children, at) =>
        Effect.sync(() => {
          const parents = new Map<RunId, RunRef>()
          for (const { run_id, seq, ...child } of openChildren()) {
            const isAsked = children.some((each) => compareChildren(each, child) === 0)
            const outcome = isAsked ? findEnd(child) : null
            const history = histories.get(run_id)
            if (outcome === null || history === undefined) continue
            const waits = history.waits.map((wait) => (wait.seq === seq ? { ...wait, outcome } : wait))
            histories.set(run_id, { ...history, waits })
            parents.set(run_id, { env_id: child.env_id, run_id })
          }
          makeDue(database, [...parents.values()], at)
          return [...parents.values()]
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
          const sizes = found.slice(0, limit).map(({ event_data }) => utf8Length(event_data))
          const page = found.slice(0, countOfPage(sizes))
          return { events: page, next: found.length > page.length ? (page.at(-1)?.event_id ?? null) : null }
        })
    })
  })
)

const compareChildren = (a: ChildRef, b: ChildRef): number =>
  compareText(a.env_id, b.env_id) || compareText(a.event_id, b.event_id)
type Database = MemoryDatabase["Service"]

/** Makes the deliveries of suspended runs due at `at`, unless they are due earlier or parked. */
const makeDue = ({ deliveries }: Database, found: ReadonlyArray<RunRef>, at: Timestamp): void => {
  for (const [id, row] of deliveries) {
    const { delivery, run_id } = row
    if (run_id !== null || !found.some((run) => run.run_id === delivery.continues)) continue
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
  makeDue(db, [run], at)
  return { run: woken, isWoken: true }
}
