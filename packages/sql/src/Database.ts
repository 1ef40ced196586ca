/** The database that the stores of this package share. */
import { StoreUnavailable } from "@weft/core"
import { Context, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { Dialect } from "./Dialect.ts"

export class Database extends Context.Service<
  Database,
  {
    readonly dialect: Dialect
    /** For transactions, and for reads that decide what is written. */
    readonly writer: SqlClient.SqlClient
    /** For everything that is only read. Sees what the writer has committed. */
    readonly reader: SqlClient.SqlClient
    /** Whether only one node at a time can be using this database, so that leases mean nothing. */
    readonly exclusive: boolean
  }
>()("@weft/sql/Database") {}

/** A database that cannot answer now is the caller's to retry; any other failure of a statement is a mistake of ours. */
export const orUnavailable =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      effect,
      isSqlError,
      (error) =>
        error.isRetryable ? Effect.fail(new StoreUnavailable({ operation, cause: error })) : Effect.die(error),
      (error) => Effect.fail(error)
    )

/** Recovers from a value that must be unique and is not. */
export const onConflict =
  <E2>(taken: E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      effect,
      isSqlError,
      (error) => Effect.fail(error.reason._tag === "UniqueViolation" ? taken : error),
      (error) => Effect.fail(error)
    )

/** How many times a transaction is tried again that the database undid for the sake of others. */
const conflictRetries = 5

/**
 * Tries a whole transaction again that the database undid because it and others waited for each other in a circle. At
 * once: one of them was let through, and has what the others wait for.
 */
export const repeatConflicts = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(transaction, { times: conflictRetries, while: isConflict })

const isConflict = (error: unknown): boolean =>
  SqlError.isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")

const isSqlError = <E>(error: E): error is Extract<E, SqlError.SqlError> => SqlError.isSqlError(error)

/** The fields of a record as columns; `Flags` are its booleans, which are stored as 0 and 1. */
export type RowOf<A, Flags extends keyof A = never> = {
  readonly [K in keyof A]: K extends Flags ? number : A[K]
}

/** The only row, or `failure` when there is none. */
export const onlyRow = <A, E, E2>(rows: Effect.Effect<ReadonlyArray<A>, E>, failure: E2): Effect.Effect<A, E | E2> =>
  Effect.flatMap(rows, ([row]) => (row === undefined ? Effect.fail(failure) : Effect.succeed(row)))

/** The count that a query gives in its column `n`; 0 without a row. */
export const countOf = <E>(
  rows: Effect.Effect<ReadonlyArray<{ readonly n: number | null }>, E>
): Effect.Effect<number, E> => Effect.map(rows, ([row]) => row?.n ?? 0)
