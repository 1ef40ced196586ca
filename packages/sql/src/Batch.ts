/**
 * Statements over many rows.
 *
 * A database prepares each SQL text once, so the text must not depend on the number of rows. Rows are passed in the
 * forms of the dialect.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Dialect, Part, Rows } from "./Dialect.ts"
import type { RowShape } from "./rows/Row.ts"

export interface Batched<A extends object> {
  /** Executes the statement for all rows. Returns the number of rows inserted, changed or deleted. */
  readonly run: (rows: Rows) => Effect.Effect<number, SqlError.SqlError>
  /** As `run`, but returns the rows of its `RETURNING` clause in no particular order. Costs 50 % more. */
  readonly returning: (rows: Rows) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** The statement for one row, with a `?` for each of its values, for callers that prepare it themselves. */
  readonly one: { readonly text: string; readonly width: number }
  /** Returns the statement as a part of a combined statement. Uses `strictText` if it is given. */
  readonly part: (rows: Rows) => Part
}

export interface BatchedOptions {
  readonly row: RowShape
  /** Returns the SQL of the statement, given the SQL of its rows, such as `VALUES (?,?),(?,?)`. */
  readonly text: (rows: string) => string
  /** As `text`, but cheaper: fails if one of the rows already exists. Used by `part`. */
  readonly strictText?: (rows: string) => string
  /** Columns that `returning` returns of each affected row. */
  readonly returns?: string
}

export const batched = <A extends object = never>(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  { row: { types, width }, text, strictText = text, returns }: BatchedOptions
): Batched<A> => {
  const forms = dialect.rows(types).map((form) => {
    const plain = text(form.text)
    return { ...form, plain, returning: returns === undefined ? plain : `${plain} RETURNING ${returns}` }
  })

  /** Calls `execute` with all rows, in batches of the largest forms that fit. */
  const forEachBatch = Effect.fnUntraced(function* (
    rows: Rows,
    execute: (form: (typeof forms)[number], batch: Rows) => Effect.Effect<void, SqlError.SqlError>
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
    one: { text: text(`VALUES (${types.map(() => "?").join(",")})`), width },

    part: (rows) => ({ columns: types, text: strictText, rows }),

    run: (rows) =>
      Effect.suspend(() => {
        let changes = 0
        const execute = forEachBatch(rows, ({ plain, parameters }, batch) =>
          Effect.map(sql.unsafe(plain, parameters(batch)).raw, (raw) => {
            changes += dialect.changes(raw)
          })
        )
        return Effect.map(execute, () => changes)
      }),

    returning: (rows) =>
      Effect.suspend(() => {
        const returned: Array<A> = []
        const execute = forEachBatch(rows, ({ returning, parameters }, batch) =>
          Effect.map(sql.unsafe<A>(returning, parameters(batch)), (found) => {
            for (const row of found) returned.push(row)
          })
        )
        return Effect.map(execute, () => returned)
      })
  }
}
