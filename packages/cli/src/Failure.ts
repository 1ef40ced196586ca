/** What ends a command without success, told in a line or two: what happened, and what to do. */
import { Runtime, Schema } from "effect"

export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  /** For programs: a code of the API, or one of the CLI's own (docs/cli.md). */
  code: Schema.String,
  message: Schema.String,
  /** What the user can do, without a period at its end; null where there is nothing to do. */
  remedy: Schema.NullOr(Schema.String),
  /** Lines that go with the message, such as a stack or a place in the sources. */
  details: Schema.Array(Schema.String)
}) {
  override readonly [Runtime.errorReported] = false
  /** 2 for a command that was used wrongly, else 1. */
  override readonly [Runtime.errorExitCode] = this.code === "usage" ? 2 : 1
}

export const failure = (
  code: string,
  message: string,
  remedy: string | null = null,
  details: ReadonlyArray<string> = []
) => new Failure({ code, message, remedy, details })

/** The command line says something that cannot be. */
export const misuse = (message: string, remedy: string | null = null): Failure => failure("usage", message, remedy)
