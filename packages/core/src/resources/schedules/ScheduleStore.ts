/**
 * Storage of schedules. Other stores write them in their transactions:
 *
 * - `BuildStore.deploy` writes static schedules with the deployment.
 * - `AdmissionStore` writes dynamic schedules with the event that creates or cancels them.
 * - `TickStore` writes the next tick of a schedule with the delivery that it starts.
 */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, ScheduleId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

export class ScheduleStore extends Context.Service<
  ScheduleStore,
  {
    /** Lists dynamic schedules, newest first. `only` is a list of project ids or names. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Schedule>, StoreUnavailable>
    /** Lists static and dynamic schedules by `due_at`, then id. `only` is a list of project ids or names. */
    readonly upcoming: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Schedule>, StoreUnavailable>
    /** Returns a static or dynamic schedule. */
    readonly get: (envId: EnvId, id: ScheduleId) => Effect.Effect<Schedule, NotFound | StoreUnavailable>
    /** Removes a dynamic schedule. `only` is a list of project ids or names. */
    readonly remove: (
      envId: EnvId,
      id: ScheduleId,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Returns at most `limit` schedules with `due_at` at most `now`, in that order: those of all environments, except of
     * `exclude`.
     */
    readonly due: (
      now: Timestamp,
      limit: number,
      exclude?: ReadonlyArray<EnvId>
    ) => Effect.Effect<ReadonlyArray<Schedule>, StoreUnavailable>
    /** As `due`, for one environment. */
    readonly dueOf: (
      envId: EnvId,
      now: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Schedule>, StoreUnavailable>
    /** Earliest `due_at` of all schedules, or null without schedules. */
    readonly nextDueAt: Effect.Effect<Timestamp | null, StoreUnavailable>
  }
>()("@weft/core/resources/schedules/ScheduleStore") {}
