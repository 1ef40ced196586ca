/** Records of dead letters, for hosts. */
import type { Run } from "./records.ts"

/** A delivery whose last attempt failed, or that expired before its start. */
export interface DeadLetter {
  /** Id of the run of the last attempt. */
  readonly runId: string
  readonly eventId: string | null
  readonly eventType: string
  readonly streamId: string
  readonly projectId: string
  readonly projectName: string
  readonly buildId: string
  readonly ns: string
  readonly var: string
  readonly type: Run["type"]
  /** `failed`, or `cancelled` if it expired. */
  readonly status: Run["status"]
  readonly attempt: number
  readonly startedAt: Date
  readonly deadSince: Date
  /** Error of the last attempt; null if it is large: see the result of the run. */
  readonly error: { readonly name: string; readonly message: string } | null
}

/** The letters that one call redrove or discarded. */
export interface DeadLetterPass {
  readonly count: number
  /** Letters that stay as they are, by reason. */
  readonly skipped: ReadonlyArray<{ readonly reason: string; readonly count: number }>
  /** Cursor of the next call if more letters match; null otherwise. */
  readonly next: string | null
}
