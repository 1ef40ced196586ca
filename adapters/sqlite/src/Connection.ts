/** A connection to a SQLite file, with Node's own driver. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"

/** Maximum prepared statements per connection. The least recently used one is evicted. */
const preparedMax = 200

interface Prepared {
  readonly statement: StatementSync
  readonly hasRows: boolean
}

export class Connection implements SqlConnection.Connection {
  readonly database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(file: string, readOnly: boolean) {
    this.database = new DatabaseSync(file, { readOnly })
  }

  readonly execute: SqlConnection.Connection["execute"] = (sql, params, transform) =>
    transformed(
      this.#rows(() => this.#prepare(sql), params),
      transform
    )

  readonly executeRaw = (sql: string, params: ReadonlyArray<unknown>) =>
    attempt(() => {
      const { statement, hasRows } = this.#prepare(sql)
      return hasRows ? statement.all(...inputs(params)) : statement.run(...inputs(params))
    })

  readonly executeUnprepared: SqlConnection.Connection["executeUnprepared"] = (sql, params, transform) =>
    transformed(
      this.#rows(() => this.#make(sql), params),
      transform
    )

  readonly executeValues = (sql: string, params: ReadonlyArray<unknown>) => this.#values(sql, params)

  readonly executeValuesUnprepared = (sql: string, params: ReadonlyArray<unknown>) => this.#values(sql, params)

  readonly executeStream = () => Stream.die(new Error("Streams are not supported: SQLite returns all rows at once"))

  #rows(prepare: () => Prepared, params: ReadonlyArray<unknown>) {
    return attempt(() => {
      const { statement, hasRows } = prepare()
      if (hasRows) return statement.all(...inputs(params))
      statement.run(...inputs(params))
      return []
    })
  }

  #values(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(
      this.#rows(() => this.#make(sql), params),
      (rows) => rows.map((row) => Object.values(row))
    )
  }

  #make(sql: string): Prepared {
    const statement = this.database.prepare(sql)
    return { statement, hasRows: statement.columns().length > 0 }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined && this.#prepared.size < preparedMax) return known
    const prepared = known ?? this.#make(sql)
    this.#prepared.delete(sql)
    this.#prepared.set(sql, prepared)
    const [oldest] = this.#prepared.keys()
    if (this.#prepared.size > preparedMax && oldest !== undefined) this.#prepared.delete(oldest)
    return prepared
  }
}

/** Checks the parameters. Booleans are not accepted, because they are stored as 0 or 1. */
const inputs = (params: ReadonlyArray<unknown>): Array<SQLInputValue> => params.map(toInput)

const toInput = (value: unknown): SQLInputValue => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint" || value === null)
    return value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite cannot store a value of type ${typeof value}`)
}

const transformed = <A extends object>(
  rows: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>,
  transform: ((rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined
) => (transform === undefined ? rows : Effect.map(rows, transform))

const attempt = <A>(execute: () => A): Effect.Effect<A, SqlError.SqlError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(execute())
    } catch (cause) {
      return Effect.fail(new SqlError.SqlError({ reason: toSqlErrorReason(cause) }))
    }
  })

/**
 * Codes of a full or failing disk: SQLITE_READONLY, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL and SQLITE_NOTADB. They are
 * retryable: callers get `StoreUnavailable`, for a damaged file until a backup is restored.
 */
const diskErrors: ReadonlySet<number> = new Set([8, 10, 11, 13, 26])

/** Classifies the failure of a statement, so that callers know if they may retry. */
export const toSqlErrorReason = (cause: unknown): SqlError.SqlErrorReason => {
  const details = { message: "Failed to execute statement", operation: "execute" }
  const code = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  if (!(cause instanceof Error) || typeof code !== "number") return new SqlError.UnknownError({ cause, ...details })
  return diskErrors.has(code & 0xff)
    ? new SqlError.ConnectionError({ cause, ...details })
    : SqlError.classifySqliteError(Object.assign(cause, { errno: code }), details)
}
