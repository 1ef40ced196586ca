/**
 * Permits for requests, evenly spaced in time: as many in a second as the rate.
 *
 * A permit is valid for 1 s from its `PermitTime`. So in any period at most the rate plus one second of it is allowed,
 * whichever node has the permits and whenever they were allocated. This makes it safe to allocate permits before they
 * are valid.
 */

/** The exact start of a permit's validity: epoch milliseconds, and parts of a millisecond (as many as the rate). */
export interface PermitTime {
  readonly at: number
  readonly parts: number
}

/** Validity of a permit, in milliseconds. */
export const permitLifetimeMs = 1000

/** Returns the time of the permit `count` places later, or earlier if it is negative. */
const addPermits = ({ at, parts }: PermitTime, count: number, perSecond: number): PermitTime => {
  const sum = parts + count * 1000
  const whole = Math.floor(sum / perSecond)
  return { at: at + whole, parts: sum - whole * perSecond }
}

/** Returns the first whole millisecond at which the permit is valid. */
const usableAt = ({ at, parts }: PermitTime): number => (parts === 0 ? at : at + 1)

/** Consecutive permits. */
interface Batch {
  readonly first: PermitTime
  readonly count: number
}

/** Permits of an organization that a node has. Plain state without a clock. */
export class Permits {
  readonly perSecond: number
  #batches: Array<Batch> = []

  constructor(perSecond: number) {
    this.perSecond = perSecond
  }

  /** Adds `count` consecutive permits up to `last`, all of them later than the present ones. */
  add(last: PermitTime, count: number): void {
    if (count > 0) this.#batches.push({ first: addPermits(last, 1 - count, this.perSecond), count })
  }

  /** Uses the first permit if it is valid at `now`. */
  use(now: number): boolean {
    const first = this.#first(now)
    if (first === undefined || usableAt(first.first) > now) return false
    this.#drop(first, 1)
    return true
  }

  /** Returns the time at which the first permit that is not expired at `now` becomes valid, or null. */
  next(now: number): number | null {
    const first = this.#first(now)
    return first === undefined ? null : usableAt(first.first)
  }

  /** Returns the number of permits that are valid at `now` or later. */
  count(now: number): number {
    this.#first(now)
    return this.#batches.reduce((sum, { count }) => sum + count, 0)
  }

  /** Drops expired permits and returns the first batch. */
  #first(now: number): Batch | undefined {
    while (true) {
      const [batch] = this.#batches
      if (batch === undefined) return undefined
      const expired = this.#countExpired(batch.first, now)
      if (expired <= 0) return batch
      this.#drop(batch, expired)
    }
  }

  /** Returns the number of expired permits in an endless sequence that starts with this one. */
  #countExpired({ at, parts }: PermitTime, now: number): number {
    return Math.floor(((now - permitLifetimeMs - at) * this.perSecond - parts) / 1000) + 1
  }

  #drop(batch: Batch, count: number): void {
    if (count >= batch.count) this.#batches.shift()
    else this.#batches[0] = { first: addPermits(batch.first, count, this.perSecond), count: batch.count - count }
  }
}

/** Returns the time at which the permit after `last` becomes valid. */
export const nextUsableAt = (last: PermitTime, perSecond: number): number => usableAt(addPermits(last, 1, perSecond))
