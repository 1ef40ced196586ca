/** Counts that one transaction adds to the kept ones. */
import type { Event, Run } from "@weft/core"
import type { Row } from "./JournalStatements.ts"

/** Adds up rows that differ in nothing but their count. */
class Sums {
  readonly #sums = new Map<string, { readonly key: ReadonlyArray<string>; n: number }>()

  add(...key: ReadonlyArray<string>): void {
    const text = key.join("\n")
    const sum = this.#sums.get(text)
    if (sum === undefined) this.#sums.set(text, { key, n: 1 })
    else sum.n++
  }

  /** In the order of their keys, so that two transactions which add to the same counts do not lock each other. */
  rows(): ReadonlyArray<Row> {
    const sorted = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([, { key, n }]) => [...key, n])
  }
}

export class Tally {
  readonly #events = new Sums()
  readonly #runs = new Sums()

  stored(event: Event): void {
    this.#events.add(event.env_id, event.event_type)
  }

  ended(run: Run): void {
    this.#runs.add(run.env_id, run.project_id, run.project_name, run.run_type, run.status)
  }

  events(): ReadonlyArray<Row> {
    return this.#events.rows()
  }

  runs(): ReadonlyArray<Row> {
    return this.#runs.rows()
  }
}
