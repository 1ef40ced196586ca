/** Tokens and other secrets, which never stand in a command line: from a hidden prompt, or from stdin. */
import { Effect, Redacted, Stdio, Stream } from "effect"
import { Prompt } from "effect/cli"
import { failure, misuse } from "../../Failure.ts"

const nothing = misuse("There is nothing on stdin", "pipe the value in, or run it in a terminal to be asked")

/** Without white space around it. Fails when there is nothing. */
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
