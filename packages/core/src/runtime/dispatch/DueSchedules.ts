/**
 * Reads due schedules, fair between environments.
 *
 * Each batch has at most a share of each environment. One with more due schedules is busy: it takes turns with the other
 * busy ones, and the query of all others leaves it out. So a tick waits for one batch at most, however many ticks of another
 * environment are due.
 */
import { Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "../../resources/schedules/Schedule.ts"
import type { ScheduleStore } from "../../resources/schedules/ScheduleStore.ts"

/** Maximum schedules of environments that are not busy, per batch. */
const othersMax = 100

/** Maximum schedules of one environment per batch. */
const shareMax = 25

/** Maximum busy environments per batch. */
const busyMax = 4

export interface DueBatch {
  readonly schedules: ReadonlyArray<Schedule>
  /** True if more schedules may be due. */
  readonly hasMore: boolean
}

export class DueSchedules {
  readonly #store: ScheduleStore["Service"]
  /** Environments with more due schedules than their share. Those that had their turn last are at the end. */
  #busy: ReadonlyArray<EnvId> = []

  constructor(store: ScheduleStore["Service"]) {
    this.#store = store
  }

  /** Returns the next batch. Its schedules must be advanced before the next call. */
  next(now: Timestamp): Effect.Effect<DueBatch, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const known = this.#busy
      const others = yield* this.#store.due(now, othersMax, known)
      const schedules: Array<Schedule> = []
      const becameBusy: Array<EnvId> = []
      for (const [envId, of] of Map.groupBy(others, ({ env_id }) => env_id)) {
        for (const schedule of of.slice(0, shareMax)) schedules.push(schedule)
        if (of.length > shareMax) becameBusy.push(envId)
      }
      const served = known.slice(0, busyMax)
      const stillBusy: Array<EnvId> = []
      for (const envId of served) {
        const of = yield* this.#store.dueOf(envId, now, shareMax)
        for (const schedule of of) schedules.push(schedule)
        if (of.length === shareMax) stillBusy.push(envId)
      }
      this.#busy = [...known.slice(busyMax), ...becameBusy, ...stillBusy]
      return { schedules, hasMore: others.length === othersMax || this.#busy.length > 0 }
    })
  }
}
