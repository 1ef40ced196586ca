/**
 * Limits rates per key with token buckets. A bucket is full after `perMs` without use. Each node has its own buckets.
 */

interface TokenBucket {
  /** Each millisecond adds `calls`, and a token costs `perMs`: whole numbers, so that no rounding adds up. */
  credit: number
  /** Epoch milliseconds of the last refill. */
  refilledAt: number
}

/** Maximum buckets before full ones are removed. */
const bucketsMax = 10_000

export class Rates {
  readonly #calls: number
  readonly #perMs: number
  readonly #buckets = new Map<string, TokenBucket>()

  /** Creates buckets of `calls` tokens, which refill within `perMs`. */
  constructor({ calls, perMs }: { readonly calls: number; readonly perMs: number }) {
    this.#calls = calls
    this.#perMs = perMs
  }

  /** Takes a token and returns 0, or returns the milliseconds until the next token. */
  take(key: string, now: number): number {
    const bucket = this.#buckets.get(key) ?? this.#addBucket(key, now)
    // If the clock was set back, no tokens are added.
    const elapsed = Math.max(0, now - bucket.refilledAt)
    bucket.credit = Math.min(this.#calls * this.#perMs, bucket.credit + elapsed * this.#calls)
    bucket.refilledAt = now
    if (bucket.credit < this.#perMs) return Math.ceil((this.#perMs - bucket.credit) / this.#calls)
    bucket.credit -= this.#perMs
    return 0
  }

  #addBucket(key: string, now: number): TokenBucket {
    if (this.#buckets.size >= bucketsMax) {
      for (const [old, { refilledAt }] of this.#buckets) if (now - refilledAt >= this.#perMs) this.#buckets.delete(old)
    }
    const bucket = { credit: this.#calls * this.#perMs, refilledAt: now }
    this.#buckets.set(key, bucket)
    return bucket
  }
}
