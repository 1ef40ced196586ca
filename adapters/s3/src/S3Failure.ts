/** A failed S3 request, without any data of the request itself. */
import { NotFound, StoreUnavailable } from "@weft/core"
import { Effect, Schema } from "effect"

export class S3Failure extends Schema.TaggedError<S3Failure>()("S3Failure", {
  /** The error code of S3 or of the system. */
  code: Schema.String,
  /** Status of the response; null without a response. */
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

/** The response is malformed. */
export const strange = (code: string): S3Failure => new S3Failure({ code, status: null })

/** A response took too long. It is not retried: the caller has waited long enough. */
export const tooLate = new S3Failure({ code: "ETIMEDOUT", status: null })

/** Responses that ask for a retry. 200 is a join that failed after its response had begun. */
const busy = new Set([200, 408, 429, 500, 502, 503, 504])

/** True if the same request may succeed shortly. */
export const isPassing = (failure: S3Failure): boolean =>
  failure.status === null
    ? failure.code !== tooLate.code
    : busy.has(failure.status) || failure.code === "RequestTimeout" || failure.code === "OperationAborted"

/** True if the object or upload does not exist. A missing bucket is a different failure. */
const isAbsence = ({ code, status }: S3Failure): boolean => status === 404 && code !== "NoSuchBucket"

/** Returns null instead of a failure because of absence. */
export const orNull = <A>(found: Effect.Effect<A, S3Failure>): Effect.Effect<A | null, S3Failure> =>
  Effect.catchTag(found, "S3Failure", (failure) => (isAbsence(failure) ? Effect.succeed(null) : Effect.fail(failure)))

export const absent = new NotFound({ resource: "blob" })

/** Turns a failure into the one that callers of the store see. */
export const unavailable = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, S3Failure> | StoreUnavailable, R> =>
  Effect.mapError(effect, (error) => (isAnother(error) ? error : new StoreUnavailable({ operation, cause: error })))

const isAnother = <E>(error: E): error is Exclude<E, S3Failure> => !(error instanceof S3Failure)

export const orAbsent = <A>(value: A | null): Effect.Effect<A, NotFound> =>
  value === null ? Effect.fail(absent) : Effect.succeed(value)
