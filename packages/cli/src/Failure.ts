/** An error that ends a command: the problem in a line or two, and the remedy. */
import { Runtime, Schema } from "effect"

export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  /** Machine-readable code: one of the API, or one of the CLI (docs/cli.md). */
  code: Schema.String,
  message: Schema.String,
  /** Advice for the user, without a final period, or null. */
  remedy: Schema.NullOr(Schema.String),
  /** Lines below the message, such as a stack or a source location. */
  details: Schema.Array(Schema.String)
}) {
  override readonly [Runtime.errorReported] = false
  /** 2 for incorrect usage, otherwise 1. */
  override readonly [Runtime.errorExitCode] = this.code === "usage" ? 2 : 1
}

export const failure = (
  code: string,
  message: string,
  remedy: string | null = null,
  details: ReadonlyArray<string> = []
) => new Failure({ code, message, remedy, details })

/** Returns a failure for incorrect usage: the exit code is 2. */
export const usageError = (message: string, remedy: string | null = null): Failure => failure("usage", message, remedy)
