/** The dynamic schedules of the caller's environment. They are made, and cancelled too, by events. */
import { Context, Effect, Layer } from "effect"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { type Action, readable } from "../access/Permission.ts"
import { type Forbidden, NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import { idReader, ScheduleId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Schedule } from "./Schedule.ts"
import { ScheduleStore } from "./ScheduleStore.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** Newest first; of the projects whose builds the caller may read. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Schedule>, Forbidden | StoreUnavailable, Caller>
    /** Ends one. Needs `build: execute` on its project; elsewhere there is none. */
    readonly remove: (id: string) => Effect.Effect<void, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/schedules/Schedules") {
  static readonly layer: Layer.Layer<Schedules, never, ScheduleStore> = Layer.effect(
    Schedules,
    Effect.gen(function* () {
      const store = yield* ScheduleStore

      /** The environment, and the projects in it of whose builds the caller may do so; undefined for all. */
      const scopeOf = (action: Action) =>
        Effect.map(requirePermission("build", [], action), ({ env_id, permissions }) => {
          const only = readable(permissions, "build", action)
          return { env_id, only: only === "all" ? undefined : only }
        })

      return Schedules.of({
        list: Effect.fnUntraced(function* (page) {
          const { env_id, only } = yield* scopeOf("read")
          return yield* store.list(env_id, page, only)
        }),

        remove: Effect.fnUntraced(function* (text) {
          const { env_id, only } = yield* scopeOf("execute")
          const scheduleId = readScheduleId(text)
          if (scheduleId === null) return yield* new NotFound({ resource: "schedule" })
          yield* store.remove(env_id, scheduleId, only)
        })
      })
    })
  )
}

const readScheduleId = idReader(ScheduleId)
