/** Reads the value of a secret from a hidden prompt or from stdin, never from the command line. */
import { Effect, Redacted, Stdio } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { usageError } from "../../Failure.ts"
import { readStdin } from "../../input/Text.ts"

/** Reads the value. Removes one line end at the end of stdin. Fails if the value is empty. */
export const readValue = Effect.fnUntraced(function* (key: string) {
  const stdio = yield* Stdio.Stdio
  const text = (yield* stdio.stdinIsTerminal) ? yield* promptValue(key) : (yield* readStdin).replace(/\r?\n$/, "")
  if (text === "")
    return yield* usageError("The value is empty", "pipe it in, or run the command in a terminal to get a prompt")
  return Redacted.make(text)
})

const promptValue = Effect.fnUntraced(function* (key: string) {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  // The prompt would go to a redirected stdout.
  if (!canPrompt) return yield* usageError("No terminal is available to prompt for the value", "pipe it in")
  return Redacted.value(yield* Prompt.run(Prompt.Hidden({ message: `Value of ${key}` })))
})
