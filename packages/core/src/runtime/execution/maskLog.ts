/** Masks the secrets that a run read in its log and in its error. Its result is stored as it is. */
import { Effect } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { type Mask, makeMask } from "../../resources/secrets/Mask.ts"
import type { LogEntry } from "../runs/Run.ts"
import type { Executed } from "./Executor.ts"

/** Characters after which other fibers run. */
const yieldCharacters = 65_536

/** Masks the values in the outcome and the log. Free if there are no values. */
export const maskExecuted = (executed: Executed, values: ReadonlySet<string>): Effect.Effect<Executed> =>
  values.size === 0 ? Effect.succeed(executed) : maskAll(executed, makeMask(values))

/** Masks the values in a log. */
export const maskLog = (
  logs: ReadonlyArray<LogEntry>,
  values: ReadonlySet<string>
): Effect.Effect<ReadonlyArray<LogEntry>> =>
  values.size === 0 ? Effect.succeed([...logs]) : maskLogs(logs, makeMask(values))

/** Masks the values in one entry of a log. */
export const maskLine = (entry: LogEntry, values: ReadonlySet<string>): LogEntry =>
  values.size === 0 ? entry : maskEntry(entry, makeMask(values))

/** Masks the values in a JSON text. */
export const maskJson = (text: JsonText, values: ReadonlySet<string>): JsonText =>
  values.size === 0 ? text : makeMask(values).json(text)

const maskAll = Effect.fnUntraced(function* ({ execution, logs }: Executed, mask: Mask) {
  // The outcome is first, because a mask that was used often hides everything.
  const outcome = maskOutcome(execution.outcome, mask)
  return { execution: { ...execution, outcome }, logs: yield* maskLogs(logs, mask) }
})

const maskLogs = Effect.fnUntraced(function* (logs: ReadonlyArray<LogEntry>, mask: Mask) {
  const entries: Array<LogEntry> = []
  let sinceYield = 0
  for (const entry of logs) {
    entries.push(maskEntry(entry, mask))
    sinceYield += entry.message.length + (entry.data?.length ?? 0)
    if (sinceYield < yieldCharacters) continue
    sinceYield = 0
    yield* Effect.yieldNow
  }
  return entries
})

const maskEntry = (entry: LogEntry, mask: Mask): LogEntry => ({
  ...entry,
  message: mask.text(entry.message),
  data: entry.data === null ? null : mask.json(entry.data)
})

/** Masks the outcomes that contain text of the guest. */
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
