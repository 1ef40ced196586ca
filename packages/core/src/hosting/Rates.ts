/**
 * How often something may happen, by a key: a bucket that is full after `perMs` without use, on this node. Other nodes
 * have their own.
 */

interface Bucket {
  left: number
  /** Epoch milliseconds of the last time that it grew. */
  at: number
}

/** Buckets to keep before those that are full again are forgotten. */
const bucketsMax = 10_000

export class Rates {
  readonly #calls: number
  readonly #perMs: number
  readonly #buckets = new Map<string, Bucket>()

  /** `calls` at once when the bucket is full; it gains as many in every `perMs`. */
  constructor({ calls, perMs }: { readonly calls: number; readonly perMs: number }) {
    this.#calls = calls
    this.#perMs = perMs
  }

  /** Takes one and gives 0, or takes nothing and gives the milliseconds after which there is one. */
  take(key: string, now: number): number {
    const bucket = this.#buckets.get(key) ?? this.#added(key, now)
    // A clock that went back has earned nothing.
    const elapsed = Math.max(0, now - bucket.at)
    bucket.left = Math.min(this.#calls, bucket.left + (elapsed * this.#calls) / this.#perMs)
    bucket.at = now
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * this.#perMs) / this.#calls)
    bucket.left--
    return 0
  }

  #added(key: string, now: number): Bucket {
    if (this.#buckets.size >= bucketsMax) {
      for (const [old, { at }] of this.#buckets) if (now - at >= this.#perMs) this.#buckets.delete(old)
    }
    const bucket = { left: this.#calls, at: now }
    this.#buckets.set(key, bucket)
    return bucket
  }
}
