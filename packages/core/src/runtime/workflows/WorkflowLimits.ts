/** Limits of durable runs, and refusals of requests that exceed them. */
import { Effect } from "effect"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"

/** Limits of a durable run, from its plan. */
export interface WorkflowLimits {
  readonly steps: number
  /** Maximum result of one step, in characters of JSON text. */
  readonly resultLength: number
}

export const defaultWorkflowLimits: WorkflowLimits = { steps: 10_000, resultLength: 256 * 1024 }

/** Returns the error of a step whose result is too large. */
export const tooLarge = (name: string, { resultLength }: WorkflowLimits): JsonText =>
  toJsonText({
    name: "ResultTooLarge",
    message: `the result of the step "${name}" has over ${resultLength} characters of JSON: store it in svc.files and return its path`,
    stack: ""
  })

/** Refuses a request of a run that has reached its maximum of steps. */
export const refuseStep = ({ steps }: WorkflowLimits) =>
  refuse("LimitExceeded", `a run may have at most ${steps} steps: use svc.continueAsNew`)

/** Refuses a request. The function receives the error. */
export const refuse = (name: string, message: string) => Effect.fail(new HostCallRefused({ name, message }))
