/**
 * Statements over many rows.
 *
 * A database prepares a statement per text, so the text must not depend on how many rows there are: rows go in the
 * forms that the dialect has for them.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { ColumnType, Dialect, Part, Rows } from "./Dialect.ts"

export interface Batched<A extends object> {
  /** Executes the statement for all rows; how many rows it inserted, changed or removed. */
  readonly run: (rows: Rows) => Effect.Effect<number, SqlError.SqlError>
  /** As `run`, but gives what the statement returns, in no particular order. Costs half as much again. */
  readonly returning: (rows: Rows) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** The statement for one row, with a `?` for each of its values, for who executes it himself. */
  readonly one: { readonly text: string; readonly width: number }
  /** As a part of several that are executed together; by what `fresh` says, where it says something. */
  readonly part: (rows: Rows) => Part
}

export interface BatchedOptions {
  /** The types of the values of one row. */
  readonly columns: ReadonlyArray<ColumnType>
  /** The text of the statement, given that of its rows, such as `VALUES (?,?),(?,?)`. */
  readonly text: (rows: string) => string
  /** As `text`, cheaper, and failing where one of the rows is there already; for `part`. */
  readonly fresh?: (rows: string) => string
  /** What it returns of each row that it touches, for `returning`. */
  readonly returns?: string
}

export const batched = <A extends object = never>(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  { columns, text, fresh = text, returns }: BatchedOptions
): Batched<A> => {
  const width = columns.length
  const forms = dialect.rows(columns).map((form) => {
    const plain = text(form.text)
    return { ...form, plain, returning: returns === undefined ? plain : `${plain} RETURNING ${returns}` }
  })

  /** Calls `execute` with all rows, a portion in each form that fits. */
  const inPortions = Effect.fnUntraced(function* (
    rows: Rows,
    execute: (form: (typeof forms)[number], portion: Rows) => Effect.Effect<void, SqlError.SqlError>
  ) {
    let done = 0
    for (const form of forms) {
      while (rows.length - done >= form.min * width) {
        const end = Math.min(rows.length, done + form.max * width)
        yield* execute(form, done === 0 && end === rows.length ? rows : rows.slice(done, end))
        done = end
      }
    }
  })

  return {
    one: { text: text(`VALUES (${columns.map(() => "?").join(",")})`), width },

    part: (rows) => ({ columns, text: fresh, rows }),

    run: (rows) =>
      Effect.suspend(() => {
        let changes = 0
        const execute = inPortions(rows, ({ plain, parameters }, portion) =>
          Effect.map(sql.unsafe(plain, parameters(portion)).raw, (raw) => {
            changes += dialect.changes(raw)
          })
        )
        return Effect.map(execute, () => changes)
      }),

    returning: (rows) =>
      Effect.suspend(() => {
        const returned: Array<A> = []
        const execute = inPortions(rows, ({ returning, parameters }, portion) =>
          Effect.map(sql.unsafe<A>(returning, parameters(portion)), (found) => {
            for (const row of found) returned.push(row)
          })
        )
        return Effect.map(execute, () => returned)
      })
  }
}
