/**
 * A histogram of times with fixed logarithmic buckets, so that histograms of several minutes and nodes add up. Pure.
 *
 * Each bucket is 10 % wider than the one before it. A percentile is the middle of its bucket: within 5 % of the exact
 * value.
 */

/** Width of a bucket relative to the one before it. */
const growth = 1.1

/** Last bucket, which contains all times above 90 days. */
const last = 240

const scale = 1 / Math.log(growth)

/** Returns the bucket of a time in milliseconds. Bucket 0 contains all times below 1 ms. */
const toBucket = (ms: number): number => (ms < 1 ? 0 : Math.min(last, 1 + Math.floor(Math.log(ms) * scale)))

/** Returns the middle of a bucket in milliseconds. */
const toMillis = (bucket: number): number => (bucket === 0 ? 0 : Math.round(growth ** (bucket - 0.5) * 100) / 100)

export class LatencyHistogram {
  /** Number of times by bucket. */
  readonly #counts = new Map<number, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  add(ms: number, count = 1): void {
    this.#addTo(toBucket(ms), count)
  }

  /** Adds the times of an encoded histogram. */
  merge(text: string): void {
    if (text === "") return
    for (const entry of text.split(" ")) {
      const colon = entry.indexOf(":")
      this.#addTo(Number(entry.slice(0, colon)), Number(entry.slice(colon + 1)))
    }
  }

  /** Adds the times of another histogram. */
  addAll(other: LatencyHistogram): void {
    for (const [bucket, count] of other.#counts) this.#addTo(bucket, count)
  }

  /** Returns the time in milliseconds that the share of all times did not exceed; null without a time. */
  percentile(share: number): number | null {
    if (this.#total === 0) return null
    let remaining = Math.max(1, Math.ceil(share * this.#total))
    for (const [bucket, count] of this.#sorted()) {
      remaining -= count
      if (remaining <= 0) return toMillis(bucket)
    }
    return null
  }

  /** Returns the histogram as text: buckets with their counts, such as `12:5 14:1`. */
  encode(): string {
    return this.#sorted()
      .map(([bucket, count]) => `${bucket}:${count}`)
      .join(" ")
  }

  #sorted(): ReadonlyArray<readonly [bucket: number, count: number]> {
    return [...this.#counts].sort(([a], [b]) => a - b)
  }

  #addTo(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count)
    this.#total += count
  }
}
