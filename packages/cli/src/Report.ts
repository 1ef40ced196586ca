/** How a command ends: its exit code, and what is said of a failure. */
import { Cause, Console, Effect, Runtime, Schema } from "effect"
import { CliError, CliOutput, TerminalCapabilities } from "effect/cli"
import { Failure, misuse } from "./Failure.ts"
import { failureLines } from "./output/FailureText.ts"
import { paintOf } from "./output/Paint.ts"

/** Failures in a line or two, or as JSON, always on stderr; help goes to stdout. */
export const presenterOf = (json: boolean): CliOutput.Presenter => ({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? tell(
          misuse(
            event.errors.map(({ message }) => inOneLine(message)).join("; "),
            `see \`${event.commandPath.join(" ")} --help\``
          ),
          json
        )
      : CliOutput.defaultPresenter.present(event)
})

/** Suggestions come on lines of their own. */
const inOneLine = (message: string): string =>
  message.replace(/\s*Did you mean this\?\s*(.*)$/s, "; did you mean $1?").replace(/\s*\n\s*/g, ", ")

/** It was told already; only the exit code is left. */
class Told extends Schema.TaggedError<Told>()("Told", { exitCode: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = this.exitCode
}

/** Tells what went wrong. What is not foreseen comes with its stack. */
export const reporting = <A, E, R>(command: Effect.Effect<A, E, R>, json: boolean): Effect.Effect<A, Told, R> =>
  Effect.catchCause(command, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const error = Cause.squash(cause)
    if (error instanceof CliError.ShowHelp) {
      return error.errors.length === 0 ? Effect.fail(new Told({ exitCode: 0 })) : Effect.fail(new Told({ exitCode: 2 }))
    }
    const failed = error instanceof Failure ? error : unforeseen(error)
    return Effect.andThen(tell(failed, json), Effect.fail(new Told({ exitCode: failed[Runtime.errorExitCode] })))
  })

const unforeseen = (error: unknown): Failure => {
  const [message = "", ...stack] = (error instanceof Error ? (error.stack ?? error.message) : String(error)).split("\n")
  return new Failure({
    code: "internal",
    message: `This is a mistake in weft itself: ${message}`,
    remedy: "please report it with these lines",
    details: stack.map((line) => line.trim())
  })
}

const tell = (failed: Failure, json: boolean) =>
  Effect.gen(function* () {
    const { code, message, remedy, details } = failed
    if (json) return yield* Console.error(JSON.stringify({ error: { code, message, remedy, details } }))
    const paint = paintOf((yield* TerminalCapabilities.TerminalCapabilities).canColor)
    yield* Console.error(failureLines(failed, paint).join("\n"))
  })
