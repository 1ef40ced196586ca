/** Copies for those who cannot wait, not even for a cache that has what they want: a look is a look into a map. */
import type { Clock } from "effect"

export class AtHand<Key, A> {
  readonly #copies = new Map<Key, { readonly value: A; readonly until: number }>()
  readonly #clock: Clock.Clock
  readonly #ageMs: number
  readonly #capacity: number

  /** Copies count for `ageMs`; beyond `capacity` the first noted goes. */
  constructor(clock: Clock.Clock, ageMs: number, capacity: number) {
    this.#clock = clock
    this.#ageMs = ageMs
    this.#capacity = capacity
  }

  /** Undefined does not mean that there is none: ask where copies come from. */
  peek(key: Key): A | undefined {
    const copy = this.#copies.get(key)
    return copy === undefined || this.#clock.currentTimeMillisUnsafe() >= copy.until ? undefined : copy.value
  }

  note(key: Key, value: A): void {
    this.#copies.delete(key)
    this.#copies.set(key, { value, until: this.#clock.currentTimeMillisUnsafe() + this.#ageMs })
    const [oldest] = this.#copies.keys()
    if (this.#copies.size > this.#capacity && oldest !== undefined) this.#copies.delete(oldest)
  }

  /** Lets go of copies that do not count any more, so many at most. Their keys. */
  expire(most: number): ReadonlyArray<Key> {
    const now = this.#clock.currentTimeMillisUnsafe()
    const expired: Array<Key> = []
    // The first noted is the first that does not count.
    for (const [key, { until }] of this.#copies) {
      if (now < until || expired.length === most) break
      this.#copies.delete(key)
      expired.push(key)
    }
    return expired
  }

  forget(key: Key): void {
    this.#copies.delete(key)
  }

  forgetAll(): void {
    this.#copies.clear()
  }
}
