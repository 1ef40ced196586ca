/** What became of a request that S3 did not fulfil. Nothing of the request itself is in it. */
import { NotFound, StoreUnavailable } from "@weft/core"
import { Effect, Schema } from "effect"

export class S3Failure extends Schema.TaggedError<S3Failure>()("S3Failure", {
  /** S3's name of the error, or the system's. */
  code: Schema.String,
  /** Of the answer; null when there was none. */
  status: Schema.NullOr(Schema.Int)
}) {
  override get message(): string {
    return this.status === null ? `S3 did not answer: ${this.code}` : `S3 answered ${this.status}: ${this.code}`
  }
}

export const failureOf = (error: unknown, status: number | null): S3Failure => {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null
  return new S3Failure({ code: code ?? (status === null ? nameOf(error) : "Unknown"), status })
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "Unknown")

/** The answer is not what it must be. */
export const strange = (code: string): S3Failure => new S3Failure({ code, status: null })

/** Said by us when an answer took too long. It is not asked for again: who waits has waited enough. */
export const tooLate = new S3Failure({ code: "ETIMEDOUT", status: null })

/** Answers that ask to come again. 200 is a join that failed after its answer had begun. */
const busy = new Set([200, 408, 429, 500, 502, 503, 504])

/** Whether the same request may succeed shortly. */
export const isPassing = (failure: S3Failure): boolean =>
  failure.status === null
    ? failure.code !== tooLate.code
    : busy.has(failure.status) || failure.code === "RequestTimeout" || failure.code === "OperationAborted"

/** Whether there is no such object or upload. A bucket that is missing is another matter. */
export const isAbsence = ({ code, status }: S3Failure): boolean => status === 404 && code !== "NoSuchBucket"

/** Nothing, instead of the failure to find it. */
export const orNull = <A>(found: Effect.Effect<A, S3Failure>): Effect.Effect<A | null, S3Failure> =>
  Effect.catchTag(found, "S3Failure", (failure) => (isAbsence(failure) ? Effect.succeed(null) : Effect.fail(failure)))

export const absent = new NotFound({ resource: "blob" })

/** What went wrong, as callers of the store see it. */
export const unavailable = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, S3Failure> | StoreUnavailable, R> =>
  Effect.mapError(effect, (error) => (isAnother(error) ? error : new StoreUnavailable({ operation, cause: error })))

const isAnother = <E>(error: E): error is Exclude<E, S3Failure> => !(error instanceof S3Failure)

export const orAbsent = <A>(value: A | null): Effect.Effect<A, NotFound> =>
  value === null ? Effect.fail(absent) : Effect.succeed(value)
