/** `PauseStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { ClaimRequest } from "../runtime/journal/JournalStore.ts"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import { covers, findPause, formatTarget, pausedAt } from "../runtime/runs/Pause.ts"
import { PauseStore } from "../runtime/runs/PauseStore.ts"
import { holdUntil } from "./FlowStatesMemory.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<PauseStore, never, MemoryDatabase> = Layer.effect(
  PauseStore,
  Effect.map(MemoryDatabase, (db) =>
    PauseStore.of({
      pause: (pause) =>
        Effect.sync(() => {
          const known = [...db.pauses.values()].find(
            (other) =>
              other.env_id === pause.env_id && other.resumed_at === null && formatTarget(other) === formatTarget(pause)
          )
          const stored =
            known === undefined ? pause : { ...known, schedules: pause.schedules, changed_at: pause.changed_at }
          db.pauses.set(stored.pause_id, stored)
          return stored
        }),

      resume: (envId, id, at) =>
        Effect.suspend(() => {
          const pause = db.pauses.get(id)
          if (pause?.env_id !== envId || pause.resumed_at !== null)
            return Effect.fail(new NotFound({ resource: "pause" }))
          const ended = { ...pause, resumed_at: at, changed_at: at }
          db.pauses.set(id, ended)
          for (const schedule of db.schedules.values())
            if (schedule.env_id === envId && schedule.due_at > at && schedule.next_at <= at)
              db.schedules.set(schedule.schedule_id, { ...schedule, due_at: at })
          return Effect.succeed(ended)
        }),

      active: (envId) =>
        Effect.sync(() =>
          [...db.pauses.values()]
            .filter(({ env_id, resumed_at }) => env_id === envId && resumed_at === null)
            .sort((a, b) => compareText(b.pause_id, a.pause_id))
        ),

      countRuns: ({ env_id, project_id, ns, var: name }) =>
        Effect.sync(() => {
          const running = [...db.runs.values()].filter(
            (run) =>
              run.status === "running" &&
              run.env_id === env_id &&
              (project_id === null || run.project_id === project_id) &&
              (ns === null || (run.ns === ns && run.var === name))
          )
          const executing = running.filter(({ waiting }) => waiting === null).length
          return { executing, suspended: running.length - executing }
        }),

      all: Effect.sync(() => [...db.pauses.values()]),

      release: (envId, after, limit, now) =>
        Effect.sync(() => {
          const examined = [...db.deliveries.values()]
            .map(({ delivery }) => delivery)
            .filter(({ env_id, due_at }) => env_id === envId && due_at === pausedAt)
            .filter(({ delivery_id }) => after === null || delivery_id > after)
            .sort((a, b) => compareText(a.delivery_id, b.delivery_id))
            .slice(0, limit)
          const pauses = [...db.pauses.values()]
          const released = examined.filter((delivery) => !pauses.some((pause) => covers(pause, delivery)))
          for (const delivery of released)
            db.deliveries.set(delivery.delivery_id, { delivery: { ...delivery, due_at: now }, run_id: null })
          const last = examined.at(-1)
          return {
            released: released.length,
            next: examined.length < limit || last === undefined ? null : last.delivery_id
          }
        }),

      forget: (envId, id) =>
        Effect.sync(() => {
          const pause = db.pauses.get(id)
          if (pause?.env_id === envId && pause.resumed_at !== null) db.pauses.delete(id)
        })
    })
  )
)

/** Holds the deliveries that a pause of the claim covers, if it is still active in the store. Returns the others. */
export const holdPaused = (
  db: MemoryDatabase["Service"],
  due: ReadonlyArray<Delivery>,
  { now, paused = [] }: Pick<ClaimRequest, "now" | "paused">
): ReadonlyArray<Delivery> => {
  const active = paused.flatMap(({ pause_id }) => db.pauses.get(pause_id) ?? [])
  const held = due.filter((delivery) => delivery.continues === null && findPause(active, delivery) !== undefined)
  for (const { delivery_id } of held) holdUntil(db, delivery_id, pausedAt, now)
  return due.filter((delivery) => !held.includes(delivery))
}
