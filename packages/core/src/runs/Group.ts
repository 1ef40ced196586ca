/**
 * Groups of deliveries whose runs share a limit, in the whole cluster (`concurrency` in a function's `meta`).
 *
 * A delivery never overtakes an older one of its group, so none starves. One that is due and has no room is parked:
 * taken out of its environment's queue until a run of the group ends. Pure.
 */
import type { EnvId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export interface Group {
  readonly env_id: EnvId
  readonly key: string
}

/** `due_at` of a parked delivery, in the year 9999. Stores keep it, so it never changes. */
export const parkedAt = Timestamp.make(253_402_214_400_000)

/**
 * How many of the waiting deliveries of a group may run beside its `running` runs, the oldest first. `limits` are
 * theirs, the oldest first: deliveries of different builds may differ, and each obeys its own.
 */
export const roomFor = (limits: ReadonlyArray<number>, running: number): number => {
  const first = limits.findIndex((limit, index) => running + index >= limit)
  return first === -1 ? limits.length : first
}
