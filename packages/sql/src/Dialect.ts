/**
 * What databases spell differently. Everything else in this package is written once.
 *
 * Only what a statement here needs is named; a new database adds a value of this type and runs the contract.
 */
import type { SqlClient, Statement } from "effect/sql"

export interface Dialect {
  /** Column types. Text sorts by bytes. Integers hold 53 bits, reals are IEEE doubles. */
  readonly types: { readonly text: string; readonly integer: string; readonly real: string }
  /** What follows the columns of a table. */
  readonly table: string
  /** As `table`, for one whose rows are to lie in the order of its primary key. */
  readonly clusteredTable: string
  /** The parameter at `position` (from 1) where its type is not known from where it stands. */
  readonly parameter: (position: number, type: keyof Dialect["types"]) => string
  /** How many rows a statement touched, from what the driver gives for it. */
  readonly changes: (raw: unknown) => number
  /** A query for `texts` in their order, as `value`, whose text is the same however many there are. */
  readonly texts: (sql: SqlClient.SqlClient, texts: ReadonlyArray<string>) => Statement.Fragment
}

export const sqlite: Dialect = {
  types: { text: "TEXT", integer: "INTEGER", real: "REAL" },
  table: " STRICT",
  clusteredTable: " STRICT, WITHOUT ROWID",
  parameter: () => "?",
  changes: (raw) =>
    typeof raw === "object" && raw !== null && "changes" in raw && typeof raw.changes === "number" ? raw.changes : 0,
  texts: (sql, texts) => sql`SELECT value FROM json_each(${JSON.stringify(texts)})`
}
