/** Records of operations on many runs, for hosts. */

/** A cancellation or replay of many runs, in the background. */
export interface Operation {
  readonly id: string
  readonly kind: "cancel" | "replay"
  /** `pending` while an older operation of the environment executes. */
  readonly state: "pending" | "running" | "succeeded" | "cancelled" | "failed"
  /** Number of runs that matched when it was created. */
  readonly total: number
  /** Number of runs that it cancelled, or whose replay it started. */
  readonly done: number
  /** Number of runs that needed nothing: they had ended, were retried, or have no event. */
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
