/** The exit code of a command, and the report of its failure. */
import { Cause, Console, Effect, Runtime, Schema } from "effect"
import { CliError, CliOutput, TerminalCapabilities } from "effect/cli"
import { Failure, usageError } from "./Failure.ts"
import { failureLines } from "./output/FailureText.ts"
import { makePaint } from "./output/Paint.ts"

/** Prints usage errors as text or JSON on stderr, and help on stdout. */
export const makePresenter = (json: boolean): CliOutput.Presenter => ({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? print(
          usageError(
            event.errors.map(({ message }) => joinLines(message)).join("; "),
            `see \`${event.commandPath.join(" ")} --help\``
          ),
          json
        )
      : CliOutput.defaultPresenter.present(event)
})

/** Joins the message with its suggestion, which is on separate lines. */
const joinLines = (message: string): string =>
  message.replace(/\s*Did you mean this\?\s*(.*)$/s, "; did you mean $1?").replace(/\s*\n\s*/g, ", ")

/** A failure that is already printed. It carries only the exit code. */
class ReportedFailure extends Schema.TaggedError<ReportedFailure>()("ReportedFailure", { exitCode: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = this.exitCode
}

/** Prints the failure of a command. Unexpected errors include the stack. */
export const reportFailures = <A, E, R>(
  command: Effect.Effect<A, E, R>,
  json: boolean
): Effect.Effect<A, ReportedFailure, R> =>
  Effect.catchCause(command, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const error = Cause.squash(cause)
    if (error instanceof CliError.ShowHelp) {
      return error.errors.length === 0
        ? Effect.fail(new ReportedFailure({ exitCode: 0 }))
        : Effect.fail(new ReportedFailure({ exitCode: 2 }))
    }
    const failed = error instanceof Failure ? error : toInternalFailure(error)
    return Effect.andThen(
      print(failed, json),
      Effect.fail(new ReportedFailure({ exitCode: failed[Runtime.errorExitCode] }))
    )
  })

const toInternalFailure = (error: unknown): Failure => {
  const [message = "", ...stack] = (error instanceof Error ? (error.stack ?? error.message) : String(error)).split("\n")
  return new Failure({
    code: "internal",
    message: `Internal error in weft: ${message}`,
    remedy: "this is a bug; please report it with these lines",
    details: stack.map((line) => line.trim())
  })
}

const print = (failed: Failure, json: boolean) =>
  Effect.gen(function* () {
    const { code, message, remedy, details } = failed
    if (json) return yield* Console.error(JSON.stringify({ error: { code, message, remedy, details } }))
    const paint = makePaint((yield* TerminalCapabilities.TerminalCapabilities).canColor)
    yield* Console.error(failureLines(failed, paint).join("\n"))
  })
