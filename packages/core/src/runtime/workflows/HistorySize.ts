/**
 * The size of a run's history, and its limits.
 *
 * Each activation loads the whole history. So its results are bounded in number and in length, whatever the requests are.
 */
import type { JsonText } from "../../foundation/JsonText.ts"
import { outcomeLengthMax } from "../runs/EventMatch.ts"
import type { History, WaitRecord } from "../runs/Workflow.ts"

/** Limits of a durable run. */
export interface WorkflowLimits {
  /** Maximum results of steps, sleeps and waits. */
  readonly results: number
  /** Maximum result of one step, in characters of JSON text. */
  readonly resultLength: number
  /** Maximum of all results, in characters of JSON text. */
  readonly historyLength: number
  /** Maximum waits for events at the same time. */
  readonly eventWaits: number
}

export const defaultWorkflowLimits: WorkflowLimits = {
  results: 10_000,
  resultLength: outcomeLengthMax,
  historyLength: 8 * 1024 * 1024,
  eventWaits: 100
}

/** Returns the characters of all results of a history, and of the events that its waits have received. */
export const measureHistory = ({ steps, waits }: History): number => {
  let length = 0
  for (const { result } of steps) length += result?.length ?? 0
  for (const { outcome } of waits) length += outcome?.length ?? 0
  return length
}

export class HistorySize {
  readonly #limits: WorkflowLimits
  #results: number
  #length: number

  constructor({ steps }: History, limits: WorkflowLimits) {
    this.#limits = limits
    this.#results = steps.length
    this.#length = measureHistory({ steps, waits: [] })
  }

  /** Returns a message if a run with so many open requests may make no further one, else null. */
  checkResults(open = 0): string | null {
    const { results } = this.#limits
    if (this.#results + open < results) return null
    return `a run may have at most ${results} steps, sleeps and waits together: use svc.continueAsNew`
  }

  /** Counts a result. Returns a message if it is too long: the request fails with it instead. */
  add(result: JsonText | null): string | null {
    const { historyLength } = this.#limits
    const length = this.#length + (result?.length ?? 0)
    this.#results++
    if (length > historyLength) {
      return `the results of a run may have at most ${historyLength} characters of JSON together: store large ones in svc.files`
    }
    this.#length = length
    return null
  }

  /** Returns a message if a run with these open waits may wait for no further event, else null. */
  checkEventWaits(open: ReadonlyArray<WaitRecord>): string | null {
    const { eventWaits } = this.#limits
    if (open.filter((wait) => wait.kind === "event").length < eventWaits) return null
    return `a run may wait for at most ${eventWaits} events at the same time`
  }
}
