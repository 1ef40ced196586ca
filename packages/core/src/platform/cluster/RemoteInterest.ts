/**
 * Interest of other nodes in activity. Plain state without a clock.
 *
 * An interested node renews its interest regularly. Without renewal the interest expires, so a crashed node stops
 * causing traffic. After a query, interest is presumed until the other nodes have had time to answer.
 */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

/** Interval at which a node renews its interest, in milliseconds. */
export const renewMs = 30_000

/** Time until an interest expires, in milliseconds. Three renewals may be lost. */
const interestTtlMs = 3 * renewMs + 10_000

/** Time in which other nodes answer a query for interest, in milliseconds. */
const answerTimeoutMs = 5_000

export class RemoteInterest {
  readonly #until = new Map<string, number>()
  #presumedUntil = 0
  #anyUntil: number
  /** Start of the silence before the last query, and the time until which it is reported to nodes that answer. */
  #silence = { since: 0, until: 0 }

  /** `now`: the start of this node, before which it has published nothing. */
  constructor(now: Timestamp) {
    this.#anyUntil = now
  }

  /** Records that the interest of other nodes was queried at `now`. */
  queried(now: Timestamp): void {
    const since = this.silentSince(now)
    if (since !== null && since < now) this.#silence = { since, until: now + interestTtlMs }
    this.#presumedUntil = now + answerTimeoutMs
    this.#recompute()
  }

  /** Records the interest of a node. Returns true if the node was not interested before. */
  update(node: string, isInterested: boolean, now: Timestamp): boolean {
    const isNew = isInterested && !((this.#until.get(node) ?? 0) > now)
    if (isInterested) this.#until.set(node, now + interestTtlMs)
    else this.#until.delete(node)
    for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other)
    this.#recompute()
    return isNew
  }

  /** True if any other node may want activity at `now`. */
  any(now: number): boolean {
    return now < this.#anyUntil
  }

  /**
   * Returns the time since which activity may not have been sent to any node, or null. Activity is not sent while no
   * node is known to be interested. The silence before a query is reported for as long as an interest lasts.
   */
  silentSince(now: number): number | null {
    if (now < this.#silence.until) return this.#silence.since
    return this.any(now) ? null : this.#anyUntil
  }

  #recompute(): void {
    this.#anyUntil = this.#presumedUntil
    for (const until of this.#until.values()) this.#anyUntil = Math.max(this.#anyUntil, until)
  }
}
