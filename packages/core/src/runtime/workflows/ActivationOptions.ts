/** Options of an activation: the services of its node, and its limits. */
import type { Effect } from "effect"
import type { EventId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Claim, JournalEntry, Suspension } from "../journal/JournalStore.ts"
import type { History, StepRecord, WaitRecord } from "../runs/Workflow.ts"
import type { CallResult, FunctionCall } from "./DurableCalls.ts"
import type { RunTokens } from "./RunTokens.ts"
import type { WorkflowLimits } from "./WorkflowLimits.ts"

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

export interface ActivationOptions {
  readonly claim: Claim
  readonly history: History
  readonly tokens: RunTokens
  /** End of the run's timeout. */
  readonly deadline: Timestamp
  /** End of the requested cleanup; null without one. */
  readonly cleanupUntil: Timestamp | null
  readonly limits: WorkflowLimits
  /** Writes progress durably, with retries. Returns false if another activation holds the run, or if the node shuts down. */
  readonly write: (entry: Advanced) => Effect.Effect<boolean>
  /** Returns the outcome that was stored for a wait before its timeout, which has ended; null without one. */
  readonly expire: (wait: WaitRecord) => Effect.Effect<JsonText | null>
  /** Called after new waits are stored. */
  readonly onStored: (waits: ReadonlyArray<WaitRecord>) => Effect.Effect<void>
  /** Starts the child run of a stored wait. Returns the error if it cannot start; null once it is stored. */
  readonly startChild: (wait: WaitRecord, call: FunctionCall) => Effect.Effect<JsonText | null>
  /** Cancels a child run. */
  readonly abandonChild: (eventId: EventId) => void
  /** Calls a function in the background, once per `seq`. */
  readonly call: (seq: number, call: FunctionCall) => Effect.Effect<CallResult>
  /** Returns an id for the event that starts a child run. */
  readonly freshEventId: Effect.Effect<EventId>
  /** Fails if the plan allows no further run. */
  readonly admitRenewal: Effect.Effect<void, HostCallRefused>
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
