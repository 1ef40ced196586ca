/**
 * The size of a run's history, and its limit.
 *
 * Each activation loads the whole history. So its results are bounded in length, whatever the requests are.
 */
import type { JsonText } from "../../foundation/JsonText.ts"
import type { History, StepRecord } from "../runs/Workflow.ts"
import { formatError } from "./RequestErrors.ts"
import type { WorkflowLimits } from "./WorkflowLimits.ts"

/** Returns the characters of all results of a history, and of the outcomes that its waits have received. */
export const measureHistory = ({ steps, waits }: History): number => {
  let length = 0
  for (const { result } of steps) length += measure(result)
  for (const { outcome } of waits) length += measure(outcome)
  return length
}

const measure = (text: JsonText | null): number => text?.length ?? 0

export class HistorySize {
  readonly #max: number
  #length: number

  constructor({ steps }: History, { historyLength }: Pick<WorkflowLimits, "historyLength">) {
    this.#max = historyLength
    this.#length = measureHistory({ steps, waits: [] })
  }

  /**
   * Counts a result. Returns it, or the failure that is recorded in its place if the history would become too long. The
   * cancellation, which is short, is recorded in any case.
   */
  add<S extends Pick<StepRecord, "kind" | "ok" | "result">>(step: S): S {
    const length = this.#length + measure(step.result)
    if (length > this.#max && step.kind !== "cancel") return { ...step, ok: false, result: tooLong(this.#max) }
    this.#length = length
    return step
  }
}

const tooLong = (max: number): JsonText =>
  formatError(
    "LimitExceeded",
    `the results of a run may have at most ${max} characters of JSON together: store large ones in svc.files`
  )
