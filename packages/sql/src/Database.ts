/** The database of the stores of this package. */
import { StoreUnavailable } from "@weft/core"
import { Context, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { Dialect } from "./Dialect.ts"

export class Database extends Context.Service<
  Database,
  {
    readonly dialect: Dialect
    /** Client for transactions, and for reads that decide what is written. */
    readonly writer: SqlClient.SqlClient
    /** Client for all other reads. Sees committed rows only. */
    readonly reader: SqlClient.SqlClient
    /** True if only one node at a time can use this database, so that leases are not needed. */
    readonly exclusive: boolean
  }
>()("@weft/sql/Database") {}

/** Fails with `StoreUnavailable` if the caller may retry. Any other failure of a statement is a defect. */
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

/** Fails with `taken` on a unique violation. */
export const onConflict =
  <E2>(taken: E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      effect,
      isSqlError,
      (error) => Effect.fail(error.reason._tag === "UniqueViolation" ? taken : error),
      (error) => Effect.fail(error)
    )

/** Maximum retries of a transaction after a deadlock or a serialization failure. */
const conflictRetries = 5

/**
 * Retries a whole transaction after a deadlock or a serialization failure. It does not wait: the other transaction
 * already holds its locks.
 */
export const repeatConflicts = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(transaction, { times: conflictRetries, while: isConflict })

const isConflict = (error: unknown): boolean =>
  SqlError.isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")

const isSqlError = <E>(error: E): error is Extract<E, SqlError.SqlError> => SqlError.isSqlError(error)

/** The row of a record. `Flags` are its booleans, which are stored as 0 and 1. */
export type RowOf<A, Flags extends keyof A = never> = {
  readonly [K in keyof A]: K extends Flags ? number : A[K]
}

/** Returns the only row, or fails with `failure`. */
export const onlyRow = <A, E, E2>(rows: Effect.Effect<ReadonlyArray<A>, E>, failure: E2): Effect.Effect<A, E | E2> =>
  Effect.flatMap(rows, ([row]) => (row === undefined ? Effect.fail(failure) : Effect.succeed(row)))

/** Returns the column `n` of the first row, 0 without a row. */
export const readCount = <E>(
  rows: Effect.Effect<ReadonlyArray<{ readonly n: number | null }>, E>
): Effect.Effect<number, E> => Effect.map(rows, ([row]) => row?.n ?? 0)
