/** Counts that one transaction adds to the kept ones. */
import { type Month, monthOf, type Timestamp } from "@weft/core"
import type { Rows } from "./Dialect.ts"

/** What is counted apart. */
export interface Counted {
  readonly env_id: string
  readonly project_id: string
  readonly project_name: string
  readonly run_type: string
  readonly status: string
  readonly start_time: Timestamp
}

type CountedEvent = { readonly env_id: string; readonly event_type: string }

interface EventSum {
  readonly of: CountedEvent
  n: number
}

interface RunSum {
  readonly of: Counted
  n: number
  bytes: number
  /** The first instant of the last month in which one of them began, and how many did. */
  month: number
  monthRuns: number
}

export class Tally {
  readonly #events = new Map<string, EventSum>()
  readonly #runs = new Map<string, RunSum>()
  #month: Month | undefined

  stored(event: CountedEvent): void {
    const key = `${event.env_id}\n${event.event_type}`
    const sum = this.#events.get(key)
    if (sum === undefined) this.#events.set(key, { of: event, n: 1 })
    else sum.n++
  }

  /** `bytes` are those of its result and logs, as they are stored. */
  ended(run: Counted, bytes: number): void {
    const sum = this.#sumOf(run)
    sum.n++
    sum.bytes += bytes
    const month = this.#monthOf(run)
    if (month > sum.month) {
      sum.month = month
      sum.monthRuns = 0
    }
    if (month === sum.month) sum.monthRuns++
  }

  /** That it once began is not forgotten. */
  removed(run: Counted, bytes: number): void {
    const sum = this.#sumOf(run)
    sum.n--
    sum.bytes -= bytes
  }

  events(): Rows {
    return sorted(this.#events).flatMap(({ of, n }) => [of.env_id, of.event_type, n])
  }

  runs(): Rows {
    return sorted(this.#runs).flatMap(({ of, n, bytes, month, monthRuns }) => [
      of.env_id,
      of.project_id,
      of.project_name,
      of.run_type,
      of.status,
      n,
      bytes,
      month,
      monthRuns
    ])
  }

  #sumOf(run: Counted): RunSum {
    const key = `${run.env_id}\n${run.project_id}\n${run.status}\n${run.run_type}\n${run.project_name}`
    const known = this.#runs.get(key)
    if (known !== undefined) return known
    const sum = { of: run, n: 0, bytes: 0, month: 0, monthRuns: 0 }
    this.#runs.set(key, sum)
    return sum
  }

  /** Nearly all runs of a batch began in the same month. */
  #monthOf({ start_time }: Counted): number {
    if (this.#month === undefined || start_time < this.#month.start || start_time >= this.#month.end) {
      this.#month = monthOf(start_time)
    }
    return this.#month.start
  }
}

/** By key, so that two transactions which add to the same counts do not wait for each other in a circle. */
const sorted = <A>(sums: Map<string, A>): ReadonlyArray<A> =>
  [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
