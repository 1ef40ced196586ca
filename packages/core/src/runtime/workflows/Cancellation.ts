/** Records and outcomes of a cancellation with cleanup. Pure. */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { cancelSeq, type StepRecord, type WaitRecord } from "../runs/Workflow.ts"
import { formatError } from "./RequestErrors.ts"

const cancelled = formatError("Cancelled", "The run was cancelled")

/** Returns the result by which a function receives its cancellation. */
export const cancelRecord = (now: Timestamp): Omit<StepRecord, "position"> => ({
  ...{ seq: cancelSeq, kind: "cancel", name: "cancel", ok: false, result: cancelled },
  ...{ attempts: 1, started_at: now, ended_at: now }
})

/** Returns the result of a wait that its run was cancelled in. */
export const cancelWait = ({ seq, kind, name, attempts, since }: WaitRecord, now: Timestamp) => ({
  ...{ seq, kind, name, ok: false, result: cancelled },
  ...{ attempts: Math.max(1, attempts), started_at: since, ended_at: now }
})

/** Outcome of a run whose cleanup took too long. */
export const cleanupOver: Outcome = {
  _tag: "Cancelled",
  message: "The run was cancelled, and its cleanup did not end in time"
}

/** Returns the outcome of a run: that of its function, or `Cancelled` if a cleanup was requested. */
export const conclusion = (outcome: Outcome, cleanupUntil: Timestamp | null): Outcome => {
  if (cleanupUntil === null || outcome._tag === "Cancelled") return outcome
  if (outcome._tag === "TimedOut") return cleanupOver
  // Undo functions that failed are in the message.
  if (outcome._tag === "Threw" && outcome.name === "Cancelled") return { _tag: "Cancelled", message: outcome.message }
  const failure = describeFailure(outcome)
  return failure === null
    ? { _tag: "Cancelled" }
    : { _tag: "Cancelled", message: `The run was cancelled, and its cleanup failed with ${failure}` }
}

/** Returns the error of a cleanup; null without one. */
const describeFailure = (outcome: Outcome): string | null => {
  switch (outcome._tag) {
    case "Returned":
    case "Responded":
      return null
    case "Threw": {
      const { name, message } = outcome
      return `${name}: ${message}`
    }
    default:
      return "message" in outcome ? `${outcome._tag}: ${outcome.message}` : outcome._tag
  }
}
