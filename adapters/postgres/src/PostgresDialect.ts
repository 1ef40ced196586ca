/** How PostgreSQL spells what `@weft/sql` leaves open. */
import { PgTypes } from "@effect/sql-pg"
import { type ColumnType, type Dialect, type Expected, NotAllCount, type Part, type Rows } from "@weft/sql"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { arrivals } from "./Arrivals.ts"
import { arrayOf } from "./Numbers.ts"
import { codeOf } from "./Troubles.ts"

const types = { text: `TEXT COLLATE "C"`, integer: "BIGINT", real: "DOUBLE PRECISION" }

/** What each column of rows is as an array, and the type of its elements. */
const arrays: Readonly<Record<ColumnType, { readonly type: string; readonly element: number }>> = {
  text: { type: "text[]", element: PgTypes.OID.text },
  integer: { type: "bigint[]", element: PgTypes.OID.int8 },
  real: { type: "double precision[]", element: PgTypes.OID.float8 }
}

/** Rows of one statement: bounds its memory. */
const rowsMax = 10_000

/** Tables whose rows come and go keep room for new versions of them, and are cleaned before they grow. */
const restless = " WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)"

export const postgres: Dialect = {
  types,
  table: "",
  clusteredTable: restless,
  forgetful: "UNLOGGED ",
  growingTable: (column) => ` PARTITION BY RANGE (${column})`,
  openTable: (table) => [`CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT`],
  arrivals,
  rows: (columns) => [
    { min: 1, max: rowsMax, text: unnest(columns, 1), parameters: (rows) => columnsOf(columns, rows) }
  ],
  together: (sql, parts, expected) => {
    const { text, parameters } = oneOf(parts, expected)
    return Effect.catchIf(Effect.asVoid(sql.unsafe(text, parameters)), isUnexpected, () =>
      Effect.fail(new NotAllCount())
    )
  },
  changes: (raw) =>
    typeof raw === "object" && raw !== null && "rowCount" in raw && typeof raw.rowCount === "number" ? raw.rowCount : 0,
  texts: (sql, texts) =>
    sql`SELECT value FROM unnest(${arrayOf(texts, PgTypes.OID.text)}::text[]) WITH ORDINALITY AS t (value, place) ORDER BY place`,
  hold: (sql, names) =>
    Effect.asVoid(
      sql`SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(${arrayOf(names, PgTypes.OID.text)}::text[]) AS t (name)`
    ),
  longestDue: (sql, envs, now, share) => sql`
    SELECT d.* FROM unnest(${arrayOf(envs, PgTypes.OID.text)}::text[]) AS env (value)
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries WHERE env_id = env.value AND due_at <= ${now}
      ORDER BY due_at, delivery_id LIMIT ${share} FOR UPDATE SKIP LOCKED
    ) AS d`,
  forUpdate: (of) => (of === undefined ? " FOR UPDATE" : ` FOR UPDATE OF ${of}`),
  skipLocked: " FOR UPDATE SKIP LOCKED"
}

/**
 * Rows out of one array for each column, which are the parameters from `first` on. Of an `unnest` after FROM the server
 * would first put away each column as a whole, which costs a small statement more than all else that it does.
 */
const unnest = (columns: ReadonlyArray<ColumnType>, first: number): string =>
  `SELECT ${columns.map((type, index) => `unnest($${first + index}::${arrays[type].type})`).join(",")}`

const columnsOf = (columns: ReadonlyArray<ColumnType>, rows: Rows): ReadonlyArray<PgTypes.Parameter> =>
  columns.map((type, column) => {
    const values: Array<unknown> = []
    for (let at = column; at < rows.length; at += columns.length) values.push(rows[at])
    return arrayOf(values, arrays[type].element)
  })

/** One statement that executes all parts; what they touch is counted in the end, and undone unless it is as expected. */
const oneOf = (parts: ReadonlyArray<Part>, expected: ReadonlyArray<Expected>) => {
  const parameters: Array<unknown> = []
  const counted = new Set(expected.flatMap((each) => each.parts))
  const tables = parts.map((part, place) => {
    const { columns, text, rows } = part
    const unnested = unnest(columns, parameters.length + 1)
    parameters.push(...columnsOf(columns, rows))
    return `part${place} AS (${text(unnested)}${counted.has(part) ? " RETURNING 1" : ""})`
  })
  const checks = expected.map(({ parts: counted, rows }) => {
    const counts = counted.map((part) => `(SELECT count(*) FROM part${parts.indexOf(part)})`)
    parameters.push(rows)
    return `1 / CASE WHEN ${counts.join(" + ")} = $${parameters.length}::int THEN 1 ELSE 0 END`
  })
  return { text: `WITH ${tables.join(", ")} SELECT ${checks.join(", ") || "1"}`, parameters }
}

const divisionByZero = "22012"
const uniqueViolation = "23505"

/** The only division is that of the check, and what must be unique are ids. */
const isUnexpected = (error: SqlError.SqlError): boolean => {
  const code = codeOf(error.reason.cause)
  return code === divisionByZero || code === uniqueViolation
}
