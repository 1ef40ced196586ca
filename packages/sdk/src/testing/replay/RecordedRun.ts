/** A recorded run, as `weft replay --export` writes it. */

export interface RecordedCall {
  /** Name of the operation, such as `events.publish` or `host.crm.lookup`. */
  readonly op: string
  readonly args: unknown
  /** Absent if the call failed, or did not end. */
  readonly answer?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

export interface RecordedRun {
  readonly run_id: string
  /** `ns/name`. */
  readonly fn: string
  /** Property of `svc` that is the argument of the function; `args` is the list of its arguments. */
  readonly trigger: "event" | "request" | "tick" | "args" | "tool" | "resource" | "prompt" | "batch"
  /** The facts in `svc`. */
  readonly svc: Readonly<Record<string, unknown>>
  /** Body of the request of a webhook. */
  readonly body?: { readonly text: string; readonly as: "json" | "text" | "form" | "given" }
  readonly calls: ReadonlyArray<RecordedCall>
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly result: unknown
  /** Fields that are not compared. */
  readonly redact?: ReadonlyArray<string>
  /** True if the run made more calls than were recorded. */
  readonly truncated?: boolean
}

/** The end of a replay. */
export interface ReplayedRun {
  readonly status: "succeeded" | "failed" | "cancelled"
  /** The result, or `{ error }` of a run that failed. */
  readonly result: unknown
  /** The first difference from the recorded run, for people; null without one. */
  readonly difference: string | null
}
