/** Confirmation prompt before a change. */
import { Effect } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { failure, usageError } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"

const noTerminal = usageError(
  "--confirm needs a terminal for its prompt",
  "omit it, or check the changes first with --dry-run"
)

/** Prompts, and fails unless the answer is yes. */
export const requireConfirmation = Effect.fnUntraced(function* (message: string) {
  const { json } = yield* Output
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) return yield* noTerminal
  if (!(yield* Prompt.run(Prompt.Confirm({ message })))) return yield* failure("declined", "Nothing was done")
})
