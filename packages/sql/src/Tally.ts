/** Counts that one transaction adds to the kept ones. */
import type { Event, Run } from "@weft/core"
import type { Rows } from "./Batch.ts"

interface Sum<A> {
  readonly of: A
  n: number
}

export class Tally {
  readonly #events = new Map<string, Sum<Event>>()
  readonly #runs = new Map<string, Sum<Run>>()

  stored(event: Event): void {
    add(this.#events, `${event.env_id}\n${event.event_type}`, event)
  }

  ended(run: Run): void {
    add(this.#runs, `${run.env_id}\n${run.project_id}\n${run.status}\n${run.run_type}\n${run.project_name}`, run)
  }

  events(): Rows {
    return sorted(this.#events).flatMap(({ of, n }) => [of.env_id, of.event_type, n])
  }

  runs(): Rows {
    return sorted(this.#runs).flatMap(({ of, n }) => [
      of.env_id,
      of.project_id,
      of.project_name,
      of.run_type,
      of.status,
      n
    ])
  }
}

const add = <A>(sums: Map<string, Sum<A>>, key: string, of: A): void => {
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { of, n: 1 })
  else sum.n++
}

/** By key, so that two transactions which add to the same counts do not wait for each other in a circle. */
const sorted = <A>(sums: Map<string, Sum<A>>): ReadonlyArray<Sum<A>> =>
  [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
