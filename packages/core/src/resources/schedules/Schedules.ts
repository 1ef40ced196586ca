/** Dynamic schedules of the caller's environment. Events create them, and can also cancel them. */
import { Context, Effect, Layer } from "effect"
import { type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { idReader, ScheduleId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { type Action, readable } from "../../tenants/access/Permission.ts"
import type { Schedule } from "./Schedule.ts"
import { ScheduleStore } from "./ScheduleStore.ts"
import { type UpcomingTicks, upcomingTicks } from "./UpcomingTicks.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** Lists the schedules of projects whose builds the caller may read, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Schedule>, Forbidden | StoreUnavailable, Caller>
    /**
     * Lists all schedules of projects whose builds the caller may read, also those of builds, by their next tick. Each has its
     * ticks of the next `days` days, at most 50.
     */
    readonly upcoming: (
      page: PageRequest,
      days: number
    ) => Effect.Effect<Page<UpcomingTicks>, Forbidden | StoreUnavailable, Caller>
    /** Removes a schedule. `NotFound` without `build: execute` on its project. */
    readonly remove: (id: string) => Effect.Effect<void, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/resources/schedules/Schedules") {
  static readonly layer: Layer.Layer<Schedules, never, ScheduleStore> = Layer.effect(
    Schedules,
    Effect.gen(function* () {
      const store = yield* ScheduleStore

      /** Returns the environment, and the projects on whose builds the caller holds the action; undefined means all. */
      const readScope = (action: Action) =>
        Effect.map(requirePermission("build", [], action), ({ env_id, permissions }) => {
          const only = readable(permissions, "build", action)
          return { env_id, only: only === "all" ? undefined : only }
        })

      return Schedules.of({
        list: Effect.fnUntraced(function* (page) {
          const { env_id, only } = yield* readScope("read")
          return yield* store.list(env_id, page, only)
        }),

        upcoming: Effect.fnUntraced(function* (page, days) {
          const { env_id, only } = yield* readScope("read")
          const until = addMillis(yield* currentTime, days * dayMs)
          const { items, total } = yield* store.upcoming(env_id, page, only)
          return { items: items.map((schedule) => upcomingTicks(schedule, until)), total }
        }),

        remove: Effect.fnUntraced(function* (text) {
          const { env_id, only } = yield* readScope("execute")
          const scheduleId = readScheduleId(text)
          if (scheduleId === null) return yield* new NotFound({ resource: "schedule" })
          yield* store.remove(env_id, scheduleId, only)
        })
      })
    })
  )
}

const dayMs = 86_400_000

const readScheduleId = idReader(ScheduleId)
