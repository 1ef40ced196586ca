/**
 * Pages of rows with texts of arbitrary size. Only large texts of rows that fit into the page are read.
 *
 * The first query omits large texts. A page full of the largest texts that it reads is within the limit, so most pages
 * need one query.
 */
import { countOfPage, pageBytesMax } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

const rowsMax = 100

/** Maximum bytes of a text that the first query reads. */
const firstPassBytes = Math.floor(pageBytesMax / rowsMax)

/** Bytes of the text of a row, 0 if it has none. */
export interface Sized {
  readonly text_bytes: number
}

/** Returns the columns of the first query: the size of the text, and the text if it has at most `bytes`. */
export const textIfSmall = (sql: SqlClient.SqlClient, column: string, bytes = firstPassBytes): Statement.Fragment =>
  sql.literal(`coalesce(octet_length(${column}), 0) AS text_bytes,
    CASE WHEN octet_length(${column}) <= ${bytes} THEN ${column} END AS ${column}`)

/**
 * Returns the rows of the first query that fit into a page, with all their texts, in the same order. `complete` reads the rows whose texts were
 * omitted, in any order; rows deleted meanwhile are dropped. `plain` removes `text_bytes` from a row.
 */
export const loadLargeTexts = Effect.fnUntraced(function* <Row, Id extends keyof Row, E>(
  found: ReadonlyArray<Row & Sized>,
  id: Id,
  complete: (ids: ReadonlyArray<Row[Id]>) => Effect.Effect<ReadonlyArray<Row>, E>,
  plain: (row: Row & Sized) => Row
): Effect.fn.Return<ReadonlyArray<Row>, E> {
  const fitting = found.slice(0, countOfPage(found.map(({ text_bytes }) => text_bytes)))
  const isLarge = ({ text_bytes }: Sized): boolean => text_bytes > firstPassBytes
  const large = fitting.filter(isLarge).map((row) => row[id])
  const whole = new Map(large.length === 0 ? [] : (yield* complete(large)).map((row) => [row[id], row]))
  return fitting.flatMap((row): Row | ReadonlyArray<Row> => (isLarge(row) ? (whole.get(row[id]) ?? []) : plain(row)))
})
