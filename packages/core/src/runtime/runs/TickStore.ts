/**
 * Seam for storing ticks of schedules with their events and deliveries.
 *
 * The next tick is the fence: only the node that advances the schedule stores that tick.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { ScheduleId } from "../../foundation/Ids.ts"
import type { Schedule } from "../../resources/schedules/Schedule.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"

export interface Tick {
  /** The schedule as it was read. */
  readonly schedule: Schedule
  /** Next times of the schedule; null after its last tick, which deletes it. */
  readonly next: Pick<Schedule, "next_at" | "due_at"> | null
  /** Event and pending delivery of the tick; null if it is postponed or skipped. */
  readonly fired: { readonly event: Event; readonly delivery: Delivery } | null
}

export class TickStore extends Context.Service<
  TickStore,
  {
    /**
     * Advances each schedule and stores its event and delivery, in one transaction. Skips schedules whose `next_at` has
     * changed since they were read. Returns the advanced schedules, each at most once.
     */
    readonly fire: (ticks: ReadonlyArray<Tick>) => Effect.Effect<ReadonlyArray<ScheduleId>, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/TickStore") {}
