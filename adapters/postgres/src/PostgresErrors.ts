/** Classification of the database's errors: transient ones may be retried, others are defects. */
import { SqlError } from "effect/sql"

/**
 * Transient SQLSTATE classes and codes that the driver does not classify.
 *
 * - 53: insufficient resources
 * - 57P: operator intervention
 * - 58: system error
 * - 25P03: idle-in-transaction timeout
 * - 25006: read-only transaction, as on a standby or on a former primary
 */
const transient = /^(53|57P|58|25P03$|25006$)/

/** Returns the SQLSTATE of the driver's error, or an empty text. */
export const readSqlState = (cause: unknown): string => {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return ""
  return typeof cause.code === "string" ? cause.code : ""
}

/** Marks transient errors that the driver does not classify as retryable. */
export const classify = (error: SqlError.SqlError): SqlError.SqlError => {
  const { _tag, cause, message } = error.reason
  return _tag === "UnknownError" && transient.test(readSqlState(cause)) ? unavailable(message, cause) : error
}

/** True if the server only reads, like a standby. A new connection may reach the primary. */
export const isReadOnly = (error: SqlError.SqlError): boolean => readSqlState(error.reason.cause) === "25006"

/** Returns a retryable error: the database did not answer. */
export const unavailable = (message: string, cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "execute" }) })

/**
 * True if a statement was prepared before a migration of a newer node added columns to its table. The driver prepares it
 * again, but the current transaction has failed.
 */
export const isOutdated = (error: unknown): boolean =>
  SqlError.isSqlError(error) && readSqlState(error.reason.cause) === "0A000"

/** True if a lock timed out, also as the cause of another error. */
export const isLockTimeout = (error: unknown): boolean =>
  SqlError.isSqlError(error)
    ? error.reason._tag === "LockTimeoutError"
    : typeof error === "object" && error !== null && "cause" in error && isLockTimeout(error.cause)
