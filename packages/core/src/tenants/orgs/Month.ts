/** The billing period of run counts: a calendar month in UTC. */
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export interface Month {
  /** First instant of the month. */
  readonly start: Timestamp
  /** First instant of the next month. */
  readonly end: Timestamp
}

/** Returns the month that contains an instant. */
export const monthOf = (instant: Timestamp): Month => {
  const date = new Date(instant)
  const first = (offset: number) => Timestamp.make(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset))
  return { start: first(0), end: first(1) }
}
