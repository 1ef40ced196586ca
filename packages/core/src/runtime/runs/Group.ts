/**
 * Groups of deliveries whose runs share a limit across the cluster (`concurrency` in a function's `meta`).
 *
 * A delivery never overtakes an older one of its group, so none starves. A due delivery above the limit is parked: removed
 * from its environment's queue until a run of the group ends. Pure.
 */
import type { EnvId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export interface Group {
  readonly env_id: EnvId
  readonly key: string
}

/** `due_at` of a parked delivery, in the year 9999. It is stored, so it must never change. */
export const parkedAt = Timestamp.make(253_402_214_400_000)

/**
 * Returns the number of pending deliveries of a group, oldest first, that can run in addition to its `running` runs.
 *
 * @param limits limits of the pending deliveries, oldest first: deliveries of different builds may have different limits
 */
export const roomFor = (limits: ReadonlyArray<number>, running: number): number => {
  const first = limits.findIndex((limit, index) => running + index >= limit)
  return first === -1 ? limits.length : first
}
