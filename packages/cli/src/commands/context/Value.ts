/** The value of a secret: from a hidden prompt, or from stdin, never from the command line. */
import { Effect, Redacted, Stdio } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { misuse } from "../../Failure.ts"
import { readStdin } from "../../input/Text.ts"

/** As it was piped in, but for one end of line at its end. Fails when there is nothing. */
export const readValue = Effect.fnUntraced(function* (key: string) {
  const stdio = yield* Stdio.Stdio
  const text = (yield* stdio.stdinIsTerminal) ? yield* ask(key) : (yield* readStdin).replace(/\r?\n$/, "")
  if (text === "") return yield* misuse("There is no value", "pipe it in, or run it in a terminal to be asked")
  return Redacted.make(text)
})

const ask = Effect.fnUntraced(function* (key: string) {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  // The question would go to wherever stdout goes.
  if (!canPrompt) return yield* misuse("There is no terminal to ask for the value", "pipe it in")
  return Redacted.value(yield* Prompt.run(Prompt.Hidden({ message: `Value of ${key}` })))
})
