/** Child runs: what a durable function receives when a run that it invoked has ended. Pure. */
import { JsonText, toJsonText } from "../../foundation/JsonText.ts"
import type { Run } from "./Run.ts"
import { resultLengthMax } from "./Workflow.ts"

/** The end of a child run. */
export interface ChildEnd {
  readonly ok: boolean
  /** The result; if `ok` is false, the error as `{name, message, stack, cause}`. */
  readonly result: JsonText
}

/** The fields of a child's last run that its parent needs. */
export type LastRun = Pick<Run, "run_id" | "status" | "result">

/** Returns the end of a child run, as text for the `outcome` of a wait. Without a run, its delivery was discarded. */
export const formatChildEnd = (last: LastRun | null): JsonText => {
  const { ok, result } = toChildEnd(last)
  return JsonText.make(`[${ok},${result}]`, { disableChecks: true })
}

/** Parses a text of `formatChildEnd`. */
export const parseChildEnd = (outcome: JsonText): ChildEnd => {
  const ok = outcome.startsWith("[true,")
  return { ok, result: JsonText.make(outcome.slice(ok ? 6 : 7, -1), { disableChecks: true }) }
}

/** Returns the end of a child run that could not start, or that took too long. */
export const childFailed = (name: string, message: string): JsonText =>
  toJsonText([false, { name, message, stack: "" }])

const toChildEnd = (last: LastRun | null): ChildEnd => {
  if (last === null) return failed(null, { name: "Cancelled", message: "The run was discarded before it began" })
  const { status, result, run_id } = last
  if (status !== "succeeded") return failed(run_id, readError(result))
  if (result === null || result.length <= resultLengthMax) return { ok: true, result: result ?? toJsonText(null) }
  const message = `the result of the run has over ${resultLengthMax} characters of JSON: store it in svc.files and return its path`
  return failed(run_id, { name: "ResultTooLarge", message })
}

interface ReadError {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

const failed = (runId: string | null, { name, message, stack = "" }: ReadError): ChildEnd => ({
  ok: false,
  result: toJsonText({ name, message, stack, cause: { run_id: runId } })
})

/** Reads the error of a failed run. Its result is text that Weft made. */
const readError = (result: JsonText | null): ReadError => {
  const { error = {} }: { readonly error?: Partial<ReadError> } = JSON.parse(result ?? "{}")
  return { name: error.name ?? "Error", message: error.message ?? "", stack: error.stack ?? "" }
}
