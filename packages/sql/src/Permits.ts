/**
 * Permits for requests, as they come into being: one after the other, evenly, as many in a second as the rate.
 *
 * A permit can be used for a second from its birth on. So of all requests in any time no more are let through than the
 * rate allows and a second's worth, whoever has the permits and whenever they were handed out. That makes it safe to
 * hand them out ahead of their use, and even of their birth.
 */

/** The birth of a permit, exactly: epoch milliseconds, and parts of one, of which there are as many as the rate. */
export interface Birth {
  readonly at: number
  readonly parts: number
}

/** How long a permit can be used. */
export const lifeMs = 1000

/** The birth of the permit that comes `count` later; earlier, where it is negative. */
const laterBy = ({ at, parts }: Birth, count: number, perSecond: number): Birth => {
  const sum = parts + count * 1000
  const whole = Math.floor(sum / perSecond)
  return { at: at + whole, parts: sum - whole * perSecond }
}

/** The first whole millisecond at which it can be used. */
const usableAt = ({ at, parts }: Birth): number => (parts === 0 ? at : at + 1)

/** Permits that follow each other. */
interface Batch {
  readonly first: Birth
  readonly count: number
}

/** The permits that a node has of an organization. Plain state, no clock. */
export class Permits {
  readonly perSecond: number
  #batches: Array<Batch> = []

  constructor(perSecond: number) {
    this.perSecond = perSecond
  }

  /** Adds `count` that follow each other up to `last`, all of them born after those that are here. */
  add(last: Birth, count: number): void {
    if (count > 0) this.#batches.push({ first: laterBy(last, 1 - count, this.perSecond), count })
  }

  /** Uses the first, if it can be used at `now`. */
  use(now: number): boolean {
    const first = this.#first(now)
    if (first === undefined || usableAt(first.first) > now) return false
    this.#drop(first, 1)
    return true
  }

  /** When the first of those can be used that are not too old at `now`; null: there are none. */
  next(now: number): number | null {
    const first = this.#first(now)
    return first === undefined ? null : usableAt(first.first)
  }

  /** How many can be used at `now` or later. */
  count(now: number): number {
    this.#first(now)
    return this.#batches.reduce((sum, { count }) => sum + count, 0)
  }

  /** The first when those are gone that are too old. */
  #first(now: number): Batch | undefined {
    while (true) {
      const [batch] = this.#batches
      if (batch === undefined) return undefined
      const tooOld = this.#tooOld(batch.first, now)
      if (tooOld <= 0) return batch
      this.#drop(batch, tooOld)
    }
  }

  /** How many are too old, of those that follow each other from `first` on for ever. */
  #tooOld({ at, parts }: Birth, now: number): number {
    return Math.floor(((now - lifeMs - at) * this.perSecond - parts) / 1000) + 1
  }

  #drop(batch: Batch, count: number): void {
    if (count >= batch.count) this.#batches.shift()
    else this.#batches[0] = { first: laterBy(batch.first, count, this.perSecond), count: batch.count - count }
  }
}

/** When the permit after the one born at `last` can be used. */
export const usableNext = (last: Birth, perSecond: number): number => usableAt(laterBy(last, 1, perSecond))
