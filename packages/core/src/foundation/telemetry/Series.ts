/**
 * Metrics of a node in plain fields. Counting costs nanoseconds, and readers convert the numbers to their format.
 *
 * Labels have few values each, and are never ids: every combination is a permanent series.
 */

export interface Series {
  readonly type: "counter" | "gauge"
  /** `weft_…`, in base units; a counter's ends in `_total`. */
  readonly name: string
  readonly help: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface HistogramSeries {
  readonly type: "histogram"
  readonly name: string
  readonly help: string
  readonly labels: Readonly<Record<string, string>>
  /** Each bound with the number of values up to it, ascending. */
  readonly buckets: ReadonlyArray<readonly [bound: number, count: number]>
  readonly count: number
  readonly sum: number
}

export type AnySeries = Series | HistogramSeries

/** A histogram: the number of values up to each of a few bounds. */
export class Distribution {
  readonly #bounds: ReadonlyArray<number>
  readonly #counts: Array<number>
  #count = 0
  #sum = 0

  /** `bounds` must ascend. */
  constructor(bounds: ReadonlyArray<number>) {
    this.#bounds = bounds
    this.#counts = bounds.map(() => 0)
  }

  add(value: number): void {
    this.#count++
    this.#sum += value
    const index = this.#bounds.findIndex((bound) => value <= bound)
    const count = this.#counts[index]
    if (count !== undefined) this.#counts[index] = count + 1
  }

  series(name: string, help: string, labels: Readonly<Record<string, string>> = {}): HistogramSeries {
    let below = 0
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0
      return [bound, below] as const
    })
    return { type: "histogram", name, help, labels, buckets, count: this.#count, sum: this.#sum }
  }
}
