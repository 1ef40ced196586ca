/** Changes that one transaction makes to the stored counts. */
import { type Month, monthOf, type Timestamp } from "@weft/core/adapter"
import type { Rows } from "./Dialect.ts"
import { eventCountRow, runCountRow } from "./rows/CountRows.ts"

/** A run, by the columns that its counts are grouped by. */
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
  /** Start of the last month in which one of them started, and the number of runs that started in it. */
  month: number
  month_runs: number
}

export class CountDeltas {
  readonly #events = new Map<string, EventSum>()
  readonly #runs = new Map<string, RunSum>()
  #month: Month | undefined

  addEvent(event: CountedEvent): void {
    const key = `${event.env_id}\n${event.event_type}`
    const sum = this.#events.get(key)
    if (sum === undefined) this.#events.set(key, { of: event, n: 1 })
    else sum.n++
  }

  /** Counts an ended run. `bytes` is the stored size of its result and logs. */
  addEndedRun(run: Counted, bytes: number): void {
    this.addCounted(run, 1)
    const sum = this.#findSum(run)
    sum.n++
    sum.bytes += bytes
  }

  /** Counts runs that began in the month of `run`, without storing them. */
  addCounted(run: Counted, runs: number): void {
    const sum = this.#findSum(run)
    const month = this.#startOfMonth(run)
    if (month > sum.month) {
      sum.month = month
      sum.month_runs = 0
    }
    if (month === sum.month) sum.month_runs += runs
  }

  /** Subtracts a removed run. The number of runs started in its month does not change. */
  subtractRun(run: Counted, bytes: number): void {
    const sum = this.#findSum(run)
    sum.n--
    sum.bytes -= bytes
  }

  eventRows(): Rows {
    return eventCountRow.encode(sorted(this.#events).map(({ of, n }) => ({ ...of, n })))
  }

  runRows(): Rows {
    return runCountRow.encode(sorted(this.#runs).map(({ of, ...sums }) => ({ ...of, ...sums })))
  }

  #findSum(run: Counted): RunSum {
    const key = `${run.env_id}\n${run.project_id}\n${run.status}\n${run.run_type}\n${run.project_name}`
    const known = this.#runs.get(key)
    if (known !== undefined) return known
    const sum = { of: run, n: 0, bytes: 0, month: 0, month_runs: 0 }
    this.#runs.set(key, sum)
    return sum
  }

  /** Caches the last month: nearly all runs of a batch started in the same one. */
  #startOfMonth({ start_time }: Counted): number {
    if (this.#month === undefined || start_time < this.#month.start || start_time >= this.#month.end) {
      this.#month = monthOf(start_time)
    }
    return this.#month.start
  }
}

/** Sorts by key, so that transactions that update the same counts cannot deadlock. */
const sorted = <A>(sums: Map<string, A>): ReadonlyArray<A> =>
  [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
