/**
 * Storing the ticks of schedules, each with what it sets off.
 *
 * The tick that is next is the fence: who moves a schedule on from it stores that tick, and nobody else can.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import type { ScheduleId } from "../ids/Ids.ts"
import type { Schedule } from "../schedules/Schedule.ts"
import type { Delivery } from "./Delivery.ts"

export interface Tick {
  /** As it was read. */
  readonly schedule: Schedule
  /** What becomes of it; null: it has fired for the last time and goes. */
  readonly next: Pick<Schedule, "next_at" | "due_at"> | null
  /** The delivery waits. Null: the tick is put off, or passed over. */
  readonly fired: { readonly event: Event; readonly delivery: Delivery } | null
}

export class TickStore extends Context.Service<
  TickStore,
  {
    /**
     * In one transaction: moves each schedule on and stores what its tick sets off, but only where `next_at` is still
     * what was read. Gives the schedules for which it was; each is there at most once.
     */
    readonly fire: (ticks: ReadonlyArray<Tick>) => Effect.Effect<ReadonlyArray<ScheduleId>, StoreUnavailable>
  }
>()("@weft/core/runs/TickStore") {}
