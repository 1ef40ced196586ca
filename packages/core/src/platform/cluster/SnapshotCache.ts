/** A synchronous cache for callers that cannot run an effect: a read is a lookup in a map. */
import type { Clock } from "effect"

export class SnapshotCache<Key, A> {
  readonly #copies = new Map<Key, { readonly value: A; readonly until: number }>()
  readonly #clock: Clock.Clock
  readonly #ageMs: number
  readonly #capacity: number

  /** Copies expire after `ageMs`. Beyond `capacity` the oldest copy is removed. */
  constructor(clock: Clock.Clock, ageMs: number, capacity: number) {
    this.#clock = clock
    this.#ageMs = ageMs
    this.#capacity = capacity
  }

  /** Returns the cached copy. Undefined means that it is not cached; the record may exist. */
  getCached(key: Key): A | undefined {
    const copy = this.#copies.get(key)
    return copy === undefined || this.#clock.currentTimeMillisUnsafe() >= copy.until ? undefined : copy.value
  }

  set(key: Key, value: A): void {
    this.#copies.delete(key)
    this.#copies.set(key, { value, until: this.#clock.currentTimeMillisUnsafe() + this.#ageMs })
    const [oldest] = this.#copies.keys()
    if (this.#copies.size > this.#capacity && oldest !== undefined) this.#copies.delete(oldest)
  }

  /** Removes at most `most` expired copies and returns their keys. */
  expire(most: number): ReadonlyArray<Key> {
    const now = this.#clock.currentTimeMillisUnsafe()
    const expired: Array<Key> = []
    // The oldest copy expires first.
    for (const [key, { until }] of this.#copies) {
      if (now < until || expired.length === most) break
      this.#copies.delete(key)
      expired.push(key)
    }
    return expired
  }

  delete(key: Key): void {
    this.#copies.delete(key)
  }

  clear(): void {
    this.#copies.clear()
  }
}
