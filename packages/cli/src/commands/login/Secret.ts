/** Reads tokens from a hidden prompt or from stdin, never from the command line. */
import { Effect, Redacted, Stdio, Stream } from "effect"
import { Prompt } from "effect/cli"
import { failure, usageError } from "../../Failure.ts"

const nothing = usageError("stdin is empty", "pipe the value in, or run the command in a terminal to get a prompt")

/** Reads the token and trims white space. Fails if it is empty. */
export const readSecret = Effect.fnUntraced(function* (message: string) {
  const stdio = yield* Stdio.Stdio
  const value = (yield* stdio.stdinIsTerminal)
    ? Redacted.value(yield* Prompt.run(Prompt.Hidden({ message })))
    : yield* Stream.mkString(Stream.decodeText(stdio.stdin)).pipe(
        Effect.mapError((error) => failure("stdin", `stdin cannot be read: ${error.message}`))
      )
  const secret = value.trim()
  return secret === "" ? yield* nothing : Redacted.make(secret)
})
