/** Which failures are the database's, and pass, and which are ours. */
import { SqlError } from "effect/sql"

/**
 * Classes and codes of SQLSTATE that the driver does not know as passing: out of resources (53), an operator
 * intervened (57P), the system failed (58), a transaction that took too long over nothing (25P03), and a database
 * that only reads, as a standby does, or one that was left behind (25006).
 */
const passing = /^(53|57P|58|25P03$|25006$)/

/** The SQLSTATE of what the driver was told; empty without one. */
export const codeOf = (cause: unknown): string => {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return ""
  return typeof cause.code === "string" ? cause.code : ""
}

/** The failure as the one that it is. */
export const troubleOf = (error: SqlError.SqlError): SqlError.SqlError => {
  const { _tag, cause, message } = error.reason
  return _tag === "UnknownError" && passing.test(codeOf(cause)) ? away(message, cause) : error
}

/** The database gave no answer. */
export const away = (message: string, cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "execute" }) })

/**
 * Whether a statement was prepared when its table had fewer columns: a newer node has brought the schema up to date. The
 * driver prepares it anew, but a transaction is lost by then.
 */
export const isOutdated = (error: unknown): boolean =>
  SqlError.isSqlError(error) && codeOf(error.reason.cause) === "0A000"

/** Whether others did not let go in time of what was needed, perhaps behind what somebody else says of it. */
export const isImpatience = (error: unknown): boolean =>
  SqlError.isSqlError(error)
    ? error.reason._tag === "LockTimeoutError"
    : typeof error === "object" && error !== null && "cause" in error && isImpatience(error.cause)
