/** Effects of operations on batches of runs, by kind. */
import type { Effect } from "effect"
import type { NotFound, PlanRequired, RateLimited, StoreUnavailable } from "../../foundation/Errors.ts"
import type { OperationFailure, StoredOperation } from "../runs/Operation.ts"
import type { OperationStep } from "../runs/OperationStep.ts"
import type { OperationTarget } from "../runs/OperationStore.ts"

export interface BatchEffects extends Pick<OperationStep, "deliveries" | "redrives" | "cancels" | "skipped"> {
  /** Number of runs from the start of the batch that these effects cover; at least 1 unless the batch is empty. */
  readonly examined: number
  /** The runs that the operation could not process, in the order of their ids. */
  readonly failures: ReadonlyArray<OperationFailure>
}

/**
 * Returns the effects on a batch. It changes nothing: the runner stores them with the progress, in one transaction. Fails
 * with `PlanRequired` or `RateLimited` if the operation has to wait.
 */
export type PrepareBatch = (
  operation: StoredOperation,
  targets: ReadonlyArray<OperationTarget>
) => Effect.Effect<BatchEffects, StoreUnavailable | PlanRequired | RateLimited | NotFound>
