/**
 * Where schedules live.
 *
 * Static ones are written with the deployment that declares them (`BuildStore.deploy`), dynamic ones with the event
 * that makes or cancels them (`AdmissionStore`), and ticks of both with what they set off (`TickStore`).
 */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, ScheduleId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

export class ScheduleStore extends Context.Service<
  ScheduleStore,
  {
    /** Dynamic ones, newest first; `only` restricts to project ids or names. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Schedule>, StoreUnavailable>
    /** Removes a dynamic one; `only` restricts to project ids or names. */
    readonly remove: (
      envId: EnvId,
      id: ScheduleId,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Of all environments those with `due_at` at `now` or before, the longest due first, at most `limit`. */
    readonly due: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<Schedule>, StoreUnavailable>
    /** The least `due_at` of all; null when there is no schedule. */
    readonly nextDueAt: Effect.Effect<Timestamp | null, StoreUnavailable>
  }
>()("@weft/core/schedules/ScheduleStore") {}
