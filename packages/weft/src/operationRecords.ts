/** Operations on many runs, for hosts. */
import type { RunQuery } from "./Env.ts"
import type { Run } from "./records.ts"

/** A cancellation or replay of many runs, or a redrive of many dead letters, in the background. */
export interface Operation {
  readonly id: string
  readonly kind: "cancel" | "replay" | "redrive"
  /** `pending` while an older operation of the environment executes. */
  readonly state: "pending" | "running" | "succeeded" | "cancelled" | "failed"
  /** Number of runs that matched when it was created. */
  readonly total: number
  /** Number of runs that it cancelled, or started again. */
  readonly done: number
  /** Number of runs that needed nothing: they had ended, were retried or redriven, or have no event. */
  readonly skipped: number
  /** Number of runs that it could not process. */
  readonly failed: number
  /** The newest of these runs; at most 10. */
  readonly failures: ReadonlyArray<{ readonly runId: string; readonly reason: string }>
  /** Reason why it does not progress now, such as a limit of the plan; null otherwise. */
  readonly waiting: string | null
  /** Reason of the state `failed`; null otherwise. */
  readonly error: string | null
  readonly createdAt: Date
  /** Type and id of the credential that created it. */
  readonly createdBy: string
  readonly startedAt: Date | null
  readonly endedAt: Date | null
}

/** Selects runs for an operation. Each field restricts the selection. */
export interface OperationFilter {
  /** Required for a replay; a cancellation selects running runs only, and a redrive has none. */
  readonly status?: Run["status"]
  readonly type?: Run["type"]
  /** Only suspended durable runs that wait for this; `any` for all of them. */
  readonly waiting?: NonNullable<RunQuery["waiting"]>
  /** Id of a project, or its name when the runs started. */
  readonly project?: string
  /** `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  readonly eventId?: string
  readonly eventType?: string
  /** Only failed runs with this text in the name or the message of their error. A replay then needs the status `failed`. */
  readonly error?: string
  /** Of a redrive, the time since when the letters are dead. */
  readonly withinMs?: number
}

export interface NewOperation {
  readonly kind: Operation["kind"]
  readonly filter?: OperationFilter
  /** Of a replay or redrive: the build of each run (`same`, the default), or the deployed one. */
  readonly build?: "same" | "deployed"
  /** Maximum runs per second, 1 to 10,000. */
  readonly rate?: number
  /** Calls with the same key are one operation. */
  readonly idempotencyKey?: string
}
