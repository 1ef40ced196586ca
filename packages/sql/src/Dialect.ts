/**
 * Differences between SQL databases. Everything else in this package is written once.
 *
 * A `Dialect` has only the members that statements of this package need. A new database adds a value of this type and
 * runs the contract suites.
 */
import type { EnvId } from "@weft/core"
import type { Timestamp } from "@weft/core/adapter"
import { Data, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

export type ColumnType = "text" | "integer" | "real"

export type Value = string | number | null

/** The values of many rows, one row after the other. */
export type Rows = Array<Value>

/** A way to pass rows to a statement. Its text does not depend on the rows, so it is prepared once per form. */
export interface RowsForm {
  /** Minimum rows per execution. */
  readonly min: number
  /** Maximum rows per execution. */
  readonly max: number
  /** SQL that produces the rows, in place of `VALUES (…), (…)`. */
  readonly text: string
  readonly parameters: (rows: Rows) => ReadonlyArray<unknown>
}

/** A statement with its rows. */
export interface Part {
  readonly columns: ReadonlyArray<ColumnType>
  /** Returns the SQL of the statement, given the SQL of its rows. */
  readonly text: (rows: string) => string
  readonly rows: Rows
}

/** The total number of rows that some of the parts must insert, change or delete. */
export interface Expected {
  readonly parts: ReadonlyArray<Part>
  readonly rows: number
}

/** A statement affected an unexpected number of rows, or a new row already exists. The transaction must roll back. */
export class UnexpectedRowCount extends Data.TaggedError("UnexpectedRowCount") {}

export interface Dialect {
  /** Column types. Text sorts by bytes. Integers hold 53 bits, reals are IEEE doubles. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** SQL after the columns of a table. */
  readonly table: string
  /** SQL after the columns of a table that stores short-lived rows in the order of its primary key. */
  readonly clusteredTable: string
  /** SQL before `TABLE` for a table that is cheaper to write because a server crash may empty it. */
  readonly unlogged: string
  /** SQL after the columns of a table that grows without a bound. `column` is an id that contains its creation time. */
  readonly partitionedTable: (column: string) => string
  /** Statements that create the default partition of such a table, which takes rows of any time. */
  readonly defaultPartition: (table: string) => ReadonlyArray<string>
  /**
   * Statements that create the table `event_arrivals` (env_id, event_type, n). Its rows are added to `event_counts` when
   * their transaction commits, so a long transaction of a host does not lock the counts. Empty for databases that have
   * no outbox.
   */
  readonly arrivals: ReadonlyArray<string>
  /** Returns the forms for rows of these columns, the largest first. The last one takes a single row. */
  readonly rows: (columns: ReadonlyArray<ColumnType>) => ReadonlyArray<RowsForm>
  /**
   * Executes all parts as one statement. Each part has rows. Fails and changes nothing if a row count is unexpected or a
   * new row already exists. Parts do not see each other's changes. The parts of `expected` are executed first, in its
   * order. Null where round trips are cheap, so that a transaction of several statements is as fast.
   */
  readonly combined:
    | ((
        sql: SqlClient.SqlClient,
        parts: ReadonlyArray<Part>,
        expected: ReadonlyArray<Expected>
      ) => Effect.Effect<void, SqlError.SqlError | UnexpectedRowCount>)
    | null
  /** Returns the number of affected rows, from the driver's result. */
  readonly changes: (raw: unknown) => number
  /** A query that returns `texts` in their order, as column `value`. Its SQL does not depend on their number. */
  readonly texts: (sql: SqlClient.SqlClient, texts: ReadonlyArray<string>) => Statement.Fragment
  /**
   * The end of a condition that a column is one of `texts`. Its SQL does not depend on their number, and it uses an index of
   * the column also while the planner has no statistics.
   */
  readonly among: (sql: SqlClient.SqlClient, texts: ReadonlyArray<string>) => Statement.Fragment
  /** Returns SQL of the position of a text in another one, from 1; 0 if it is not in there. */
  readonly position: (text: string, part: string) => string
  /** Returns SQL of the text that `LIKE` compares with a pattern in lower case, so that ASCII case is ignored. */
  readonly lowerAscii: (text: string) => string
  /** Maximum runs that one statement of a search examines. Where reads block the thread, it takes about 3 ms. */
  readonly searchRows: { readonly failed: number; readonly table: number }
  /** SQL after a table that selects its index, where the planner would take another one. */
  readonly useIndex: (index: string) => string
  /** True if an index may have texts of some thousand characters. */
  readonly indexesTexts: boolean
  /** Acquires the advisory locks with these names until the transaction ends. No-op where transactions are serial. */
  readonly advisoryLock: (
    sql: SqlClient.SqlClient,
    names: ReadonlyArray<string>
  ) => Effect.Effect<void, SqlError.SqlError>
  /**
   * A query for the deliveries of each environment that have been due the longest, at most `share` of each, as whole
   * rows. Locks them until the transaction ends, and skips rows that other transactions have locked.
   */
  readonly selectDue: (
    sql: SqlClient.SqlClient,
    envs: ReadonlyArray<EnvId>,
    now: Timestamp,
    share: number
  ) => Statement.Fragment
  /**
   * SQL after a query that locks its rows, or those of the table with the alias `of`, until the transaction ends. Waits
   * for transactions that hold a lock on them.
   */
  readonly forUpdate: (of?: string) => string
  /**
   * As `forUpdate`, but skips rows that other transactions have locked. With a limit it belongs into a materialized CTE:
   * PostgreSQL may run a subquery once per row, and then takes more rows than the limit.
   */
  readonly skipLocked: string
}

/** Rows per execution on SQLite. */
const executionSizes = [50, 10, 3, 1]

export const sqlite: Dialect = {
  types: { text: "TEXT", integer: "INTEGER", real: "REAL" },
  table: " STRICT",
  clusteredTable: " STRICT, WITHOUT ROWID",
  unlogged: "",
  partitionedTable: () => " STRICT",
  defaultPartition: () => [],
  arrivals: [],
  // Parsing a JSON parameter in the database takes twice as long.
  rows: (columns) => {
    const row = `(${columns.map(() => "?").join(",")})`
    return executionSizes.map((size) => ({
      min: size,
      max: size,
      text: `VALUES ${Array.from({ length: size }, () => row).join(",")}`,
      parameters: (rows) => rows
    }))
  },
  combined: null,
  changes: (raw) =>
    typeof raw === "object" && raw !== null && "changes" in raw && typeof raw.changes === "number" ? raw.changes : 0,
  texts: (sql, texts) => sql`SELECT value FROM json_each(${JSON.stringify(texts)})`,
  among: (sql, texts) => sql`IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`,
  position: (text, part) => `instr(${text}, ${part})`,
  // Its `LIKE` ignores the case of ASCII letters, and of no others.
  lowerAscii: (text) => text,
  searchRows: { failed: 4000, table: 1000 },
  indexesTexts: true,
  useIndex: (index) => ` INDEXED BY ${index}`,
  advisoryLock: () => Effect.void,
  selectDue: (sql, envs, now, share) => sql`
    SELECT d.* FROM (${sqlite.texts(sql, envs)}) AS env
    JOIN deliveries d ON d.env_id = env.value AND (d.due_at, d.delivery_id) IN (
      SELECT due_at, delivery_id FROM deliveries WHERE env_id = env.value AND due_at <= ${now}
      ORDER BY due_at, delivery_id LIMIT ${share}
    )`,
  forUpdate: () => "",
  skipLocked: ""
}
