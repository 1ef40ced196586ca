/** Rejects secrets in the command line, without repeating them. */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import { usageError } from "../Failure.ts"

/** Declares an argument for the secret, so that the command can reject it without printing it. */
export const secretArgument = (name: string) =>
  Argument.String(name).pipe(
    Argument.withDescription("Rejected: the shell would keep it in its history"),
    Argument.variadic()
  )

/** Fails if the argument is given. */
export const rejectSecretArgument = (what: string, given: ReadonlyArray<string>, command: string) =>
  given.length === 0
    ? Effect.void
    : Effect.fail(
        usageError(
          `${what} in the command line is visible to others and stays in the history of the shell: nothing was done`,
          `omit it to get a prompt, or pipe it in, as in \`${command} < file\`; rotate it if it is in use`
        )
      )
