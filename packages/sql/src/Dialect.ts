/**
 * What databases spell differently. Everything else in this package is written once.
 *
 * Only what a statement here needs is named; a new database adds a value of this type and runs the contract.
 */
import type { EnvId, Timestamp } from "@weft/core"
import { Data, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

export type ColumnType = "text" | "integer" | "real"

export type Value = string | number | null

/** The values of many rows, one row after the other. */
export type Rows = Array<Value>

/** A way to hand rows to a statement. The text depends on nothing but the way, so that it is prepared once. */
export interface RowsForm {
  /** Rows of one execution: no fewer, */
  readonly min: number
  /** and no more. */
  readonly max: number
  /** What stands in the statement where `VALUES (…), (…)` could. */
  readonly text: string
  readonly parameters: (rows: Rows) => ReadonlyArray<unknown>
}

/** A statement over rows of these columns, and the rows. */
export interface Part {
  readonly columns: ReadonlyArray<ColumnType>
  /** The text of the statement, given that of its rows. */
  readonly text: (rows: string) => string
  readonly rows: Rows
}

/** How many rows some of the parts are to touch between them. */
export interface Expected {
  readonly parts: ReadonlyArray<Part>
  readonly rows: number
}

/** Not as many rows as expected, or some that were there before: nothing of what was done may be kept. */
export class NotAllCount extends Data.TaggedError("NotAllCount") {}

export interface Dialect {
  /** Column types. Text sorts by bytes. Integers hold 53 bits, reals are IEEE doubles. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** What follows the columns of a table. */
  readonly table: string
  /** As `table`, for one whose rows are to lie in the order of its primary key, and come and go. */
  readonly clusteredTable: string
  /** What stands before `TABLE` for one that may be empty after the server has crashed, and is cheaper to write for it. */
  readonly forgetful: string
  /** As `table`, for one that grows for ever; `column` is an id that tells when its row came. */
  readonly growingTable: (column: string) => string
  /** What is to be done once such a table is there, so that it takes rows of any time. */
  readonly openTable: (table: string) => ReadonlyArray<string>
  /**
   * Makes the table `event_arrivals` (env_id, event_type, n): what a transaction adds there is added to `event_counts`
   * when it commits. For transactions of hosts, which may take long: nobody waits for what they count. Nothing where
   * hosts have no transactions with Weft.
   */
  readonly arrivals: ReadonlyArray<string>
  /** Forms for rows of these columns; the one for most rows first, the last for a single one. */
  readonly rows: (columns: ReadonlyArray<ColumnType>) => ReadonlyArray<RowsForm>
  /**
   * Executes parts, each of which has rows, as one statement: all of them or, when something else than expected comes
   * of it, or what is to be new is there already, none. They do not see what the others change; those of `expected` are
   * executed first, in its order. Null where the way to the database is short enough to execute one after the other in a
   * transaction.
   */
  readonly together:
    | ((
        sql: SqlClient.SqlClient,
        parts: ReadonlyArray<Part>,
        expected: ReadonlyArray<Expected>
      ) => Effect.Effect<void, SqlError.SqlError | NotAllCount>)
    | null
  /** How many rows a statement touched, from what the driver gives for it. */
  readonly changes: (raw: unknown) => number
  /** A query for `texts` in their order, as `value`, whose text is the same however many there are. */
  readonly texts: (sql: SqlClient.SqlClient, texts: ReadonlyArray<string>) => Statement.Fragment
  /**
   * Waits until no other transaction holds one of the names, and holds them until this one ends. Nothing to do where
   * transactions come one after the other.
   */
  readonly hold: (sql: SqlClient.SqlClient, names: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
  /**
   * A query for the deliveries, as whole rows of their table, of each environment that have been due for the longest,
   * `share` at most. Nobody else gets them until the transaction ends; those that others got are passed over.
   */
  readonly longestDue: (
    sql: SqlClient.SqlClient,
    envs: ReadonlyArray<EnvId>,
    now: Timestamp,
    share: number
  ) => Statement.Fragment
  /**
   * What follows a query that decides what is written: its rows, those of the table with the alias `of`, stay as they
   * are until the transaction ends. Where another transaction is changing one, its end is waited for first.
   */
  readonly forUpdate: (of?: string) => string
  /** As `forUpdate`, passing over the rows that others are changing. */
  readonly skipLocked: string
}

/** Rows of one execution on SQLite. */
const executionSizes = [50, 10, 3, 1]

export const sqlite: Dialect = {
  types: { text: "TEXT", integer: "INTEGER", real: "REAL" },
  table: " STRICT",
  clusteredTable: " STRICT, WITHOUT ROWID",
  forgetful: "",
  growingTable: () => " STRICT",
  openTable: () => [],
  arrivals: [],
  // A JSON parameter that the database takes apart takes twice as long.
  rows: (columns) => {
    const row = `(${columns.map(() => "?").join(",")})`
    return executionSizes.map((size) => ({
      min: size,
      max: size,
      text: `VALUES ${Array.from({ length: size }, () => row).join(",")}`,
      parameters: (rows) => rows
    }))
  },
  together: null,
  changes: (raw) =>
    typeof raw === "object" && raw !== null && "changes" in raw && typeof raw.changes === "number" ? raw.changes : 0,
  texts: (sql, texts) => sql`SELECT value FROM json_each(${JSON.stringify(texts)})`,
  hold: () => Effect.void,
  longestDue: (sql, envs, now, share) => sql`
    SELECT d.* FROM (${sqlite.texts(sql, envs)}) AS env
    JOIN deliveries d ON d.env_id = env.value AND (d.due_at, d.delivery_id) IN (
      SELECT due_at, delivery_id FROM deliveries WHERE env_id = env.value AND due_at <= ${now}
      ORDER BY due_at, delivery_id LIMIT ${share}
    )`,
  forUpdate: () => "",
  skipLocked: ""
}
