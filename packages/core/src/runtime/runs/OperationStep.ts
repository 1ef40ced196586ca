/** Effects of an operation on a batch of runs. */
import type { RunId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Redrive } from "./DeadLetterStore.ts"
import type { Delivery } from "./Delivery.ts"
import type { OperationFailure, StoredOperation } from "./Operation.ts"

/** A batch of an operation with its progress. */
export interface OperationStep {
  /** The operation as the node knows it. The step counts only if `fence` and `after_run_id` are still those of the store. */
  readonly operation: Pick<StoredOperation, "env_id" | "operation_id" | "fence" | "after_run_id">
  /** The last examined run. */
  readonly next: RunId | null
  /** Pending deliveries to add. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** Dead letters to start again. Those without a mark count as skipped, and their deliveries are not stored. */
  readonly redrives: ReadonlyArray<Redrive>
  /** Running runs to cancel. Those that have ended count as skipped. */
  readonly cancels: ReadonlyArray<RunId>
  readonly skipped: number
  readonly failed: number
  /** As `Operation.failures`, after this batch. */
  readonly failures: ReadonlyArray<OperationFailure>
  /** As `Operation.waiting`. */
  readonly waiting: string | null
  readonly at: Timestamp
  /** End of the lease. */
  readonly until: Timestamp
  /** End of the operation; null if it continues. */
  readonly end: { readonly state: "succeeded" | "failed"; readonly error: string | null } | null
}
