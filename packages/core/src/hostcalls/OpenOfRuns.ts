/** What runs have open between their host calls, by the run and the guest's own number for it. */
import { Effect } from "effect"
import type { RunId } from "../ids/Ids.ts"

export interface Open {
  /** Lets go of it, whatever is going on, and takes it from here. */
  readonly end: Effect.Effect<void>
}

export class OpenOfRuns<A extends Open> {
  readonly #runs = new Map<RunId, Map<number, A>>()

  find(runId: RunId, id: number): A | undefined {
    return this.#runs.get(runId)?.get(id)
  }

  add(runId: RunId, id: number, item: A): void {
    const open = this.#runs.get(runId) ?? new Map<number, A>()
    this.#runs.set(runId, open.set(id, item))
  }

  remove(runId: RunId, id: number): void {
    const open = this.#runs.get(runId)
    if (open?.delete(id) === true && open.size === 0) this.#runs.delete(runId)
  }

  /** Ends what the run has left open. */
  endAll(runId: RunId): Effect.Effect<void> {
    const open = this.#runs.get(runId)
    return open === undefined ? Effect.void : Effect.forEach([...open.values()], ({ end }) => end, { discard: true })
  }
}
