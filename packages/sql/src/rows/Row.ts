/**
 * Rows of a statement: some columns in a fixed order.
 *
 * The statement's SQL, its parameters and the messages between threads derive from the same `Row`. So no other code
 * depends on the position of a column.
 */
import { Record as Records, Struct } from "effect"
import type { ColumnType, Rows, Value } from "../Dialect.ts"
import type { Columns } from "./Columns.ts"

/** Columns of a statement in their order. */
export interface RowShape {
  readonly names: ReadonlyArray<string>
  readonly types: ReadonlyArray<ColumnType>
  /** Number of columns. */
  readonly width: number
  /** The columns as SQL, such as `env_id, run_id`. */
  readonly list: string
}

export interface Row<Name extends string> extends RowShape {
  readonly names: ReadonlyArray<Name>
  /** Position of each column in a row. */
  readonly at: Positions<Name>
  /** Appends the row of a record. Fields without a column are ignored. */
  readonly append: (rows: Rows, record: RowRecord<Name>) => void
  /** Returns the rows of the records. */
  readonly encode: (records: Iterable<RowRecord<Name>>) => Rows
}

export type Positions<Name extends string> = Readonly<Record<Name, number>>

/** A value for each column of a row. */
export type RowRecord<Name extends string> = Readonly<Record<Name, Value>>

/** Returns a row of the columns, in their order. */
export const makeRow = <Name extends string>(columns: Columns<Name>): Row<Name> => {
  const names = Struct.keys(columns)
  const append = (rows: Rows, record: RowRecord<Name>): void => {
    for (const name of names) rows.push(record[name])
  }
  return {
    names,
    types: names.map((name) => columns[name]),
    width: names.length,
    list: names.join(", "),
    at: Records.map(columns, (_, name) => names.indexOf(name)),
    append,
    encode: (records) => {
      const rows: Rows = []
      for (const record of records) append(rows, record)
      return rows
    }
  }
}

/** Returns a function that converts a row of `from` into a row of `to`. Columns that `from` lacks are null. */
export const rowConverter = (from: RowShape, to: RowShape): ((row: Rows) => Rows) => {
  const positions = to.names.map((name) => from.names.indexOf(name))
  return (row) => positions.map((position) => row[position] ?? null)
}
