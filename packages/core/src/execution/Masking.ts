/** Keeps the secrets that a run read out of what is stored of it: its log and its failure, but not its result. */
import { Effect } from "effect"
import type { LogEntry } from "../runs/Run.ts"
import type { Outcome } from "../sandbox/Outcome.ts"
import { type Mask, makeMask } from "../secrets/Mask.ts"
import type { Executed } from "./Executor.ts"

/** Characters after which others have a turn. */
const stretch = 65_536

/** `executed` without the values, which the run has read. At no cost when it has read none. */
export const masked = (executed: Executed, values: ReadonlySet<string>): Effect.Effect<Executed> =>
  values.size === 0 ? Effect.succeed(executed) : maskAll(executed, makeMask(values))

/** The log of a run that has read the values, without them. */
export const maskedLogs = (
  logs: ReadonlyArray<LogEntry>,
  values: ReadonlySet<string>
): Effect.Effect<ReadonlyArray<LogEntry>> =>
  values.size === 0 ? Effect.succeed([...logs]) : maskLogs(logs, makeMask(values))

const maskAll = Effect.fnUntraced(function* ({ execution, logs }: Executed, mask: Mask) {
  // First, because a mask that was used much hides all.
  const outcome = maskOutcome(execution.outcome, mask)
  return { execution: { ...execution, outcome }, logs: yield* maskLogs(logs, mask) }
})

const maskLogs = Effect.fnUntraced(function* (logs: ReadonlyArray<LogEntry>, mask: Mask) {
  const entries: Array<LogEntry> = []
  let since = 0
  for (const entry of logs) {
    entries.push(maskEntry(entry, mask))
    since += entry.message.length + (entry.data?.length ?? 0)
    if (since < stretch) continue
    since = 0
    yield* Effect.yieldNow
  }
  return entries
})

const maskEntry = (entry: LogEntry, mask: Mask): LogEntry => ({
  ...entry,
  message: mask.text(entry.message),
  data: entry.data === null ? null : mask.json(entry.data)
})

/** Only these say something that the guest wrote. */
const maskOutcome = (outcome: Outcome, mask: Mask): Outcome => {
  switch (outcome._tag) {
    case "Threw":
      return {
        ...outcome,
        name: mask.text(outcome.name),
        message: mask.text(outcome.message),
        stack: mask.text(outcome.stack)
      }
    case "LimitExceeded":
      return { ...outcome, message: mask.text(outcome.message) }
    default:
      return outcome
  }
}
