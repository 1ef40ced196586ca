/**
 * Which other nodes want to hear activity. Plain state, no clock.
 *
 * A node says so again and again, and counts as no longer wanting it when it was not heard for a while: so a dead one
 * costs nothing for long. Until the others can have answered, somebody is taken to want it.
 */
import type { Timestamp } from "../ids/Timestamp.ts"

/** Between two times that a node says that it wants activity, in milliseconds. */
export const renewMs = 30_000

/** How long that holds: three times may be lost. */
const holdsMs = 3 * renewMs + 10_000

/** How long others may take to answer who wants activity. */
const answerMs = 5_000

export class Watchers {
  readonly #until = new Map<string, number>()
  #presumedUntil = 0
  #anyUntil: number
  /** Since when nobody was known to want it when others were asked, and how long those who answer are to be told. */
  #silence = { since: 0, until: 0 }

  /** Nothing has happened before `now`. */
  constructor(now: Timestamp) {
    this.#anyUntil = now
  }

  /** Others were asked at `now`. */
  asked(now: Timestamp): void {
    const since = this.silentSince(now)
    if (since !== null && since < now) this.#silence = { since, until: now + holdsMs }
    this.#presumedUntil = now + answerMs
    this.#count()
  }

  /** A node said whether it wants activity; whether it is one that did not before. */
  heard(node: string, isWatching: boolean, now: Timestamp): boolean {
    const isNew = isWatching && !((this.#until.get(node) ?? 0) > now)
    if (isWatching) this.#until.set(node, now + holdsMs)
    else this.#until.delete(node)
    for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other)
    this.#count()
    return isNew
  }

  /** Whether any may want to hear of what happens at `now`. */
  any(now: number): boolean {
    return now < this.#anyUntil
  }

  /**
   * Since when what has happened was perhaps told to nobody: nobody is known to want it, or nobody was when others were
   * asked, a while ago. Null where neither is so.
   */
  silentSince(now: number): number | null {
    if (now < this.#silence.until) return this.#silence.since
    return this.any(now) ? null : this.#anyUntil
  }

  #count(): void {
    this.#anyUntil = this.#presumedUntil
    for (const until of this.#until.values()) this.#anyUntil = Math.max(this.#anyUntil, until)
  }
}
