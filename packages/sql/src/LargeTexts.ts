/**
 * Pages of rows that have a text each whose size callers decide: none is read before it is known that all fit.
 *
 * A first look leaves out what is large. As many texts as a page has, each as large as that look takes, are within the
 * bound; so most pages are one query.
 */
import { checkPageBytes, type PageTooLarge, pageBytesMax } from "@weft/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

const rowsMax = 100

/** Larger texts, in bytes, are left out of the first look. */
const wholeBytes = Math.floor(pageBytesMax / rowsMax)

/** How large the text of a row is, 0 when there is none. */
interface Weighed {
  readonly text_bytes: number
}

/** The column of a first look, and how large its text is. */
export const weighed = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  sql.literal(`coalesce(octet_length(${column}), 0) AS text_bytes,
    CASE WHEN octet_length(${column}) <= ${wholeBytes} THEN ${column} END AS ${column}`)

/**
 * The rows of a first look with all their texts, in the same order. `complete` reads those whose texts were left out, in
 * any order; one that has gone meanwhile is left out. `plain` takes away how large the text is.
 */
export const wholeRows = Effect.fnUntraced(function* <Row, Id extends keyof Row, E>(
  found: ReadonlyArray<Row & Weighed>,
  id: Id,
  complete: (ids: ReadonlyArray<Row[Id]>) => Effect.Effect<ReadonlyArray<Row>, E>,
  plain: (row: Row & Weighed) => Row
): Effect.fn.Return<ReadonlyArray<Row>, E | PageTooLarge> {
  yield* checkPageBytes(found.reduce((sum, { text_bytes }) => sum + text_bytes, 0))
  const isLarge = ({ text_bytes }: Weighed): boolean => text_bytes > wholeBytes
  const large = found.filter(isLarge).map((row) => row[id])
  const whole = new Map(large.length === 0 ? [] : (yield* complete(large)).map((row) => [row[id], row]))
  return found.flatMap((row): Row | ReadonlyArray<Row> => (isLarge(row) ? (whole.get(row[id]) ?? []) : plain(row)))
})
