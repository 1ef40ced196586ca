/** Shows the progress of an operation until it ends. */
import type { Operation } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"

/** Interval in which the progress is read. */
const pollInterval = "1 second"

/** Returns the progress of an operation in one line. */
export const progressText = ({ state, total, done, skipped, failed, waiting }: Operation): string => {
  const counts = [
    `${done} done`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`])
  ]
  return `${state}: ${done + skipped + failed} of ${total} (${counts.join(", ")})${waiting === null ? "" : `; waits: ${waiting}`}`
}

/** Waits for the end of an operation with a progress line. If the user stops the command, the operation continues. */
export const followOperation = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  const output = yield* Output
  const read = api.request((weft, options) => weft.operations.get(id, options))
  const poll = Effect.gen(function* () {
    while (true) {
      const operation = yield* read
      if (operation.ended_at !== null) return operation
      yield* output.status(progressText(operation))
      yield* Effect.sleep(pollInterval)
    }
  })
  const ended = yield* Effect.onInterrupt(poll, () =>
    output.note(
      `The operation continues.\n  follow it:  weft operations follow ${id}\n  cancel it:  weft operations cancel ${id}`
    )
  )
  yield* output.print(ended, () => [progressText(ended), ...failureLines(ended)].join("\n"))
  if (ended.state === "failed") return yield* failure("operation_failed", ended.error ?? "The operation failed")
})

/** Lines with the newest runs that were not processed. */
export const failureLines = ({ failures }: Operation): ReadonlyArray<string> =>
  failures.map(({ run_id, reason }) => `  ${run_id}  ${reason}`)
