/** `ScheduleStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { EnvId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import type { Schedule, ScheduleChange, ScheduleRefusal } from "../resources/schedules/Schedule.ts"
import { ScheduleStore } from "../resources/schedules/ScheduleStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ScheduleStore, never, MemoryDatabase> = Layer.effect(
  ScheduleStore,
  Effect.map(MemoryDatabase, (db) => {
    const isOf =
      (only: ReadonlyArray<string> | undefined) =>
      ({ project_id }: Schedule) => {
        const name = db.projects.get(project_id)?.name
        return only === undefined || only.includes(project_id) || (name !== undefined && only.includes(name))
      }

    const dynamic = (envId: EnvId, only?: ReadonlyArray<string>): ReadonlyArray<Schedule> =>
      findDynamic(db, envId).filter(isOf(only))

    return ScheduleStore.of({
      list: (envId, page, only) =>
        Effect.sync(() =>
          toPage(
            [...dynamic(envId, only)].sort((a, b) => compareText(b.schedule_id, a.schedule_id)),
            page
          )
        ),

      upcoming: (envId, page, only) =>
        Effect.sync(() =>
          toPage(
            [...db.schedules.values()]
              .filter(({ env_id }) => env_id === envId)
              .filter(isOf(only))
              .sort(byDue),
            page
          )
        ),

      get: (envId, id) =>
        Effect.suspend(() => {
          const schedule = db.schedules.get(id)
          return schedule?.env_id === envId
            ? Effect.succeed(schedule)
            : Effect.fail(new NotFound({ resource: "schedule" }))
        }),

      remove: (envId, id, only) =>
        Effect.suspend(() => {
          const found = dynamic(envId, only).some((schedule) => schedule.schedule_id === id)
          if (!found) return Effect.fail(new NotFound({ resource: "schedule" }))
          db.schedules.delete(id)
          return Effect.void
        }),

      due: (now, limit, exclude = []) =>
        Effect.sync(() => listDue(db, now, ({ env_id }) => !exclude.includes(env_id)).slice(0, limit)),

      dueOf: (envId, now, limit) =>
        Effect.sync(() => listDue(db, now, ({ env_id }) => env_id === envId).slice(0, limit)),

      nextDueAt: Effect.sync(() =>
        [...db.schedules.values()].reduce<Timestamp | null>(
          (least, { due_at }) => (least === null || due_at < least ? due_at : least),
          null
        )
      )
    })
  })
)

type Database = MemoryDatabase["Service"]

const listDue = (db: Database, now: Timestamp, isListed: (schedule: Schedule) => boolean): ReadonlyArray<Schedule> =>
  [...db.schedules.values()].filter((schedule) => schedule.due_at <= now && isListed(schedule)).sort(byDue)

const byDue = (a: Schedule, b: Schedule): number => a.due_at - b.due_at || compareText(a.schedule_id, b.schedule_id)

const findDynamic = (db: Database, envId: EnvId): ReadonlyArray<Schedule> =>
  [...db.schedules.values()].filter(({ env_id, kind }) => env_id === envId && kind === "dynamic")

/** Applies the change, or returns the reason of the refusal. */
export const changeSchedules = (db: Database, change: ScheduleChange): ScheduleRefusal | null => {
  if (change._tag === "Created") {
    const { schedule, max } = change
    if (findDynamic(db, schedule.env_id).length >= max) return "too many"
    db.schedules.set(schedule.schedule_id, schedule)
    return null
  }
  const { by } = change
  const cancelled = findDynamic(db, change.env_id).filter((schedule) =>
    "schedule_id" in by
      ? schedule.schedule_id === by.schedule_id
      : schedule.project_id === by.project_id && schedule.ns === by.ns && schedule.var === by.var
  )
  for (const { schedule_id } of cancelled) db.schedules.delete(schedule_id)
  return cancelled.length === 0 ? "none" : null
}
