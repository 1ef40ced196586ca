/** Limits of durable runs, most of them from the plan of their organization. */
import { Effect } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import type { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Plan } from "../../tenants/orgs/Plan.ts"
import type { WaitRecord } from "../runs/Workflow.ts"
import { formatError, refuse } from "./RequestErrors.ts"

export interface WorkflowLimits {
  /** Maximum recorded results of a run. */
  readonly steps: number
  /** Maximum result of one step, in UTF-8 bytes of JSON text. */
  readonly resultBytes: number
  /** Maximum of all results, in characters of JSON text. */
  readonly historyLength: number
  /** Maximum waits for events at the same time. */
  readonly eventWaits: number
}

const historyLengthMax = 8 * 1024 * 1024

const eventWaitsMax = 100

export const toWorkflowLimits = ({ max_steps_per_run, max_step_result_bytes }: Plan): WorkflowLimits => ({
  steps: orUnlimited(max_steps_per_run),
  resultBytes: orUnlimited(max_step_result_bytes),
  historyLength: historyLengthMax,
  eventWaits: eventWaitsMax
})

const orUnlimited = (limit: number): number => (limit === -1 ? Number.POSITIVE_INFINITY : limit)

/** Share of the steps from which the log has a warning. */
const warnedShare = 0.8

/** Limits the results of a run. */
export class StepLimit {
  readonly #limits: WorkflowLimits
  /** Number of results from which the log has a warning. */
  readonly #warnedFrom: number
  #isWarned: boolean

  constructor(limits: WorkflowLimits, count: number) {
    this.#limits = limits
    this.#warnedFrom = Math.ceil(limits.steps * warnedShare)
    this.#isWarned = count >= this.#warnedFrom
  }

  /** Fails if a run with `count` results and open requests may make no further one. Warns before that, once. */
  admit(count: number, warn: (text: string) => void): Effect.Effect<void, HostCallRefused> {
    return Effect.suspend(() => {
      const { steps } = this.#limits
      if (count >= steps) return refuse("LimitExceeded", describeFull(steps))
      const isNear = count + 1 >= this.#warnedFrom
      if (isNear && !this.#isWarned) warn(describeNear(this.#warnedFrom, steps))
      this.#isWarned ||= isNear
      return Effect.void
    })
  }
}

const describeNear = (warnedFrom: number, steps: number): string =>
  `This run has ${warnedFrom} of the ${steps} steps that its plan allows (max_steps_per_run): use svc.continueAsNew`

/** Returns a message if a run with these open waits may wait for no further event, else null. */
export const checkEventWaits = (open: ReadonlyArray<WaitRecord>, { eventWaits }: WorkflowLimits): string | null =>
  open.filter(({ kind }) => kind === "event").length < eventWaits
    ? null
    : `a run may wait for at most ${eventWaits} events at the same time`

const describeFull = (steps: number): string =>
  `a run may have at most ${steps} steps (max_steps_per_run): use svc.continueAsNew`

/** True if a result has more bytes than a step may return. Counts bytes only if the characters leave it open. */
export const isTooLarge = (result: JsonText | null, { resultBytes }: WorkflowLimits): boolean =>
  result !== null &&
  (result.length > resultBytes || (3 * result.length > resultBytes && utf8Length(result) > resultBytes))

/** Returns the error of a step whose result is too large. */
export const tooLarge = (name: string, { resultBytes }: WorkflowLimits): JsonText =>
  formatError(
    "ResultTooLarge",
    `the result of the step "${name}" has over ${resultBytes} bytes of JSON (max_step_result_bytes): store it in svc.files and return its path`
  )
