/** Secrets do not belong into the command line: who writes one there is told, and never shown it again. */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import { misuse } from "../Failure.ts"

/** Takes what should not be there, so that it can be refused without being repeated. */
export const secretArgument = (name: string) =>
  Argument.String(name).pipe(
    Argument.withDescription("Not here: it would stay in the history of the shell, and is refused"),
    Argument.variadic()
  )

/** Fails when there is any. */
export const refuseSecret = (what: string, given: ReadonlyArray<string>, command: string) =>
  given.length === 0
    ? Effect.void
    : Effect.fail(
        misuse(
          `${what} in the command line stays in the history of the shell, and others can see it: nothing was done`,
          `leave it out to be asked, or pipe it in, as in \`${command} < file\`; and replace it if it is a real one`
        )
      )
