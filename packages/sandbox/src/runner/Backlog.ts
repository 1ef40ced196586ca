/**
 * What waits to go into an isolate, oldest first, and how much of it goes in at once.
 *
 * What comes of an entry is heard only when it is over. So it takes as much as is done in a moment, going by the entry
 * before: of runs that take next to nothing many, of those that compute for long one after the other.
 */
import { entries, type Pending } from "./Pending.ts"

/** About how long an entry is to take, in milliseconds. */
const entryMs = 10
/** Messages in one entry. */
const portionMax = 32

export class Backlog {
  #waiting: Array<Pending> = []
  #portion = 1

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  push(pending: Pending): void {
    this.#waiting.push(pending)
  }

  /** What is to go in now. */
  take(): ReadonlyArray<Pending> {
    return this.#waiting.splice(0, this.#portion)
  }

  /** An entry of so many messages took so long. */
  took(messages: number, ms: number): void {
    const inTime = Math.floor((messages * entryMs) / ms)
    this.#portion = Math.max(1, Math.min(inTime, 2 * this.#portion, portionMax))
  }

  /** Forgets a run that has not gone in; false when it has, or never came. */
  withdraw(run: number): boolean {
    const place = this.#waiting.findIndex((pending) => pending.run === run && pending.kind === entries.invoke)
    if (place >= 0) this.#waiting.splice(place, 1)
    return place >= 0
  }

  clear(): void {
    this.#waiting = []
  }
}
