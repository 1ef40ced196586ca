/** Adapts a connection of the host to `effect/sql`. Its statements are part of the host's transaction. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"

/** A connection with an open transaction, such as node-postgres's `Client` or `PoolClient`, but not a pool. */
export interface HostConnection {
  readonly query: (text: string, parameters: Array<unknown>) => Promise<HostResult>
}

export interface HostResult {
  readonly rows: ReadonlyArray<object>
  readonly rowCount?: number | null
}

/** Sends a statement. Fails with the driver's error. */
export type Query = (text: string, parameters: Array<unknown>) => Effect.Effect<HostResult, unknown>

export const makeHostQuery =
  (connection: HostConnection): Query =>
  (text, parameters) =>
    Effect.tryPromise({ try: () => connection.query(text, parameters), catch: (error) => error })

/** Returns a query function on the connection of an open transaction of an `SqlClient` of `@effect/sql-pg`. */
export const makeEffectQuery =
  (connection: SqlConnection.Connection): Query =>
  (text, parameters) =>
    connection.executeRaw(text, parameters).pipe(
      Effect.map((result) => (isResult(result) ? result : { rows: [] })),
      Effect.mapError(({ reason }) => reason.cause)
    )

const isResult = (result: unknown): result is HostResult =>
  typeof result === "object" && result !== null && "rows" in result && Array.isArray(result.rows)

/** Calls `onFailure` with every error of the driver. */
export const makeConnection = (query: Query, onFailure: (error: unknown) => void): SqlConnection.Connection => {
  const execute = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.mapError(query(text, parameters.map(toDriverParameter)), (cause) => {
      onFailure(cause)
      return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, operation: "execute" }) })
    })
  const rows = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(execute(text, parameters), (result) => result.rows.map(toNumbers))
  const values = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(rows(text, parameters), (found) => found.map((row): ReadonlyArray<unknown> => Object.values(row)))
  return {
    execute: rows,
    executeUnprepared: rows,
    executeRaw: execute,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (text, parameters) => Stream.fromIterableEffect(rows(text, parameters))
  }
}

/** Converts a parameter to a form that every driver can send: arrays as text, because the statement casts them. */
const toDriverParameter = (parameter: unknown): unknown =>
  PgTypes.isParameter(parameter) && Array.isArray(parameter.value) ? arrayText(parameter.value) : parameter

const arrayText = (values: ReadonlyArray<unknown>): string => `{${values.map(elementText).join(",")}}`

const elementText = (value: unknown): string =>
  value === null ? "NULL" : `"${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** Converts the 64-bit integers of a row, which drivers return as text or bigint, to numbers. */
const toNumbers = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, integers.has(column) ? Number(value) : value])
  )

/** The integer columns that admissions read. */
const integers = new Set(["event_time", "created_at", "n"])
