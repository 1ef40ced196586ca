/** Asking before something is done that others notice. */
import { Effect } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { failure, misuse } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"

const nobodyToAsk = misuse("--confirm needs a terminal to ask in", "leave it out, or look first with --dry-run")

/** Fails unless the answer is yes. */
export const consent = Effect.fnUntraced(function* (message: string) {
  const { json } = yield* Output
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) return yield* nobodyToAsk
  if (!(yield* Prompt.run(Prompt.Confirm({ message })))) return yield* failure("declined", "Nothing was done")
})
