/** Errors of the requests of a durable function. */
import { Effect } from "effect"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { WorkflowLimits } from "./HistorySize.ts"

/** Returns the error of a result or an event that is too large, as JSON text. */
export const tooLarge = (what: string, { resultLength }: WorkflowLimits): JsonText =>
  formatError(
    "ResultTooLarge",
    `${what} has over ${resultLength} characters of JSON: store it in svc.files and pass its path`
  )

/** Returns an error as JSON text. */
export const formatError = (name: string, message: string): JsonText => toJsonText({ name, message, stack: "" })

/** Refuses a host call with an error. */
export const refuse = (name: string, message: string) => Effect.fail(new HostCallRefused({ name, message }))
