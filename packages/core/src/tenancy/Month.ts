/** The period that plans count runs by: the calendar month in UTC. */
import { Timestamp } from "../ids/Timestamp.ts"

export interface Month {
  /** Its first instant. */
  readonly start: Timestamp
  /** The first instant of the next one. */
  readonly end: Timestamp
}

/** The month that an instant is in. */
export const monthOf = (instant: Timestamp): Month => {
  const date = new Date(instant)
  const first = (offset: number) => Timestamp.make(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset))
  return { start: first(0), end: first(1) }
}
