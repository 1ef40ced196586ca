/** Options and limits of an activation. */
import type { Effect } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Claim, JournalEntry, Suspension } from "../journal/JournalStore.ts"
import type { History, StepRecord, WaitRecord } from "../runs/Workflow.ts"
import type { WorkflowLimits } from "./HistorySize.ts"

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

export interface ActivationOptions {
  readonly claim: Claim
  readonly history: History
  /** End of the run's timeout. */
  readonly deadline: Timestamp
  /** End of the requested cleanup; null without one. */
  readonly cleanupUntil: Timestamp | null
  readonly limits: WorkflowLimits
  /** Writes progress durably, with retries. Returns false if another activation holds the run, or if the node shuts down. */
  readonly write: (entry: Advanced) => Effect.Effect<boolean>
  /** Gives stored events to a wait whose timeout has ended. Returns its event; null without one. */
  readonly expire: (wait: WaitRecord) => Effect.Effect<JsonText | null>
  /** Called after new waits are stored. */
  readonly onStored: (waits: ReadonlyArray<WaitRecord>) => Effect.Effect<void>
  /** Stops the guest, without waiting for its end. */
  readonly stop: () => void
}

/** Returns the entry for progress of the run that the claim holds. */
export const toAdvanced = (
  { delivery, run }: Claim,
  at: Timestamp,
  steps: ReadonlyArray<StepRecord>,
  waits: ReadonlyArray<WaitRecord>,
  suspension: Suspension | null
): Advanced => ({ _tag: "Advanced", run, deliveryId: delivery.delivery_id, at, steps, waits, suspension })
