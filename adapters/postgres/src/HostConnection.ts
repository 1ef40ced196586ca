/** A connection of the host's, as `effect/sql` wants one: what is done on it is part of the host's transaction. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"

/** A connection with an open transaction, such as node-postgres's `Client` or `PoolClient`; not a pool. */
export interface HostConnection {
  readonly query: (text: string, parameters: Array<unknown>) => Promise<HostResult>
}

export interface HostResult {
  readonly rows: ReadonlyArray<object>
  readonly rowCount?: number | null
}

/** Sends a statement; fails with the driver's error. */
export type Query = (text: string, parameters: Array<unknown>) => Effect.Effect<HostResult, unknown>

export const queryOfHost =
  (connection: HostConnection): Query =>
  (text, parameters) =>
    Effect.tryPromise({ try: () => connection.query(text, parameters), catch: (error) => error })

/** On the connection of a transaction of an `SqlClient` of `@effect/sql-pg`. */
export const queryOfEffect =
  (connection: SqlConnection.Connection): Query =>
  (text, parameters) =>
    connection.executeRaw(text, parameters).pipe(
      Effect.map((result) => (isResult(result) ? result : { rows: [] })),
      Effect.mapError(({ reason }) => reason.cause)
    )

const isResult = (result: unknown): result is HostResult =>
  typeof result === "object" && result !== null && "rows" in result && Array.isArray(result.rows)

/** `failed` is told of every failure. */
export const connectionBy = (query: Query, failed: (error: unknown) => void): SqlConnection.Connection => {
  const ask = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.mapError(query(text, parameters.map(plain)), (cause) => {
      failed(cause)
      return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, operation: "execute" }) })
    })
  const rows = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(ask(text, parameters), (result) => result.rows.map(numbered))
  const values = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(rows(text, parameters), (found) => found.map((row): ReadonlyArray<unknown> => Object.values(row)))
  return {
    execute: rows,
    executeUnprepared: rows,
    executeRaw: ask,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (text, parameters) => Stream.fromIterableEffect(rows(text, parameters))
  }
}

/** A parameter as every driver can send it: arrays as text, of which the statement says the type. */
const plain = (parameter: unknown): unknown =>
  PgTypes.isParameter(parameter) && Array.isArray(parameter.value) ? arrayText(parameter.value) : parameter

const arrayText = (values: ReadonlyArray<unknown>): string => `{${values.map(elementText).join(",")}}`

const elementText = (value: unknown): string =>
  value === null ? "NULL" : `"${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** 64-bit integers, which drivers give as text or as bigint, as numbers; of the columns that admissions read. */
const numbered = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, integers.has(column) ? Number(value) : value])
  )

const integers = new Set(["event_time", "created_at", "n"])
