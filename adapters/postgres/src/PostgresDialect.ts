/** The `Dialect` of PostgreSQL. */
import { PgTypes } from "@effect/sql-pg"
import { type ColumnType, type Dialect, type Expected, type Part, type Rows, UnexpectedRowCount } from "@weft/sql"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { arrivals } from "./Arrivals.ts"
import { toArrayParameter } from "./Numbers.ts"
import { readSqlState } from "./PostgresErrors.ts"

const types = { text: `TEXT COLLATE "C"`, integer: "BIGINT", real: "DOUBLE PRECISION" }

/** Array type and element type of each column type. */
const arrays: Readonly<Record<ColumnType, { readonly type: string; readonly element: number }>> = {
  text: { type: "text[]", element: PgTypes.OID.text },
  integer: { type: "bigint[]", element: PgTypes.OID.int8 },
  real: { type: "double precision[]", element: PgTypes.OID.float8 }
}

/** Maximum rows per statement. Limits its memory. */
const rowsMax = 10_000

/** Storage parameters of tables with short-lived rows: space for updates, and early vacuum so that they stay small. */
const churnStorage = " WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)"

export const postgres: Dialect = {
  types,
  table: "",
  clusteredTable: churnStorage,
  unlogged: "UNLOGGED ",
  partitionedTable: (column) => ` PARTITION BY RANGE (${column})`,
  defaultPartition: (table) => [`CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT`],
  arrivals,
  rows: (columns) => [
    { min: 1, max: rowsMax, text: unnest(columns, 1), parameters: (rows) => toColumnArrays(columns, rows) }
  ],
  combined: (sql, parts, expected) => {
    const { text, parameters } = combineParts(parts, expected)
    return Effect.catchIf(Effect.asVoid(sql.unsafe(text, parameters)), isUnexpected, () =>
      Effect.fail(new UnexpectedRowCount())
    )
  },
  changes: (raw) =>
    typeof raw === "object" && raw !== null && "rowCount" in raw && typeof raw.rowCount === "number" ? raw.rowCount : 0,
  texts: (sql, texts) =>
    sql`SELECT value FROM unnest(${toArrayParameter(texts, PgTypes.OID.text)}::text[]) WITH ORDINALITY AS t (value, place) ORDER BY place`,
  among: (sql, texts) => sql`= ANY(${toArrayParameter(texts, PgTypes.OID.text)}::text[])`,
  position: (text, part) => `strpos(${text}, ${part})`,
  // The collation of the columns is "C", whose case is that of ASCII.
  lowerAscii: (text) => `lower(${text})`,
  searchRows: { failed: 10_000, table: 10_000 },
  indexesTexts: false,
  useIndex: () => "",
  advisoryLock: (sql, names) =>
    Effect.asVoid(
      sql`SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(${toArrayParameter(names, PgTypes.OID.text)}::text[]) AS t (name)`
    ),
  selectDue: (sql, envs, now, share) => sql`
    SELECT d.* FROM unnest(${toArrayParameter(envs, PgTypes.OID.text)}::text[]) AS env (value)
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries WHERE env_id = env.value AND due_at <= ${now}
      ORDER BY due_at, delivery_id LIMIT ${share} FOR UPDATE SKIP LOCKED
    ) AS d`,
  forUpdate: (of) => (of === undefined ? " FOR UPDATE" : ` FOR UPDATE OF ${of}`),
  skipLocked: " FOR UPDATE SKIP LOCKED"
}

/**
 * Returns SQL that reads rows from one array parameter per column, from parameter `first` on. An `unnest` in FROM would
 * make the server materialize each column, which costs a small statement more than the rest of its work.
 */
const unnest = (columns: ReadonlyArray<ColumnType>, first: number): string =>
  `SELECT ${columns.map((type, index) => `unnest($${first + index}::${arrays[type].type})`).join(",")}`

const toColumnArrays = (columns: ReadonlyArray<ColumnType>, rows: Rows): ReadonlyArray<PgTypes.Parameter> =>
  columns.map((type, column) => {
    const values: Array<unknown> = []
    for (let at = column; at < rows.length; at += columns.length) values.push(rows[at])
    return toArrayParameter(values, arrays[type].element)
  })

/** Combines the parts into one statement. It counts the affected rows at the end and fails if they are unexpected. */
const combineParts = (parts: ReadonlyArray<Part>, expected: ReadonlyArray<Expected>) => {
  const parameters: Array<unknown> = []
  const counted = new Set(expected.flatMap((each) => each.parts))
  const tables = parts.map((part, place) => {
    const { columns, text, rows } = part
    const unnested = unnest(columns, parameters.length + 1)
    parameters.push(...toColumnArrays(columns, rows))
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

/** True if a row count or a new id was unexpected: the check is the only division, and only ids are unique. */
const isUnexpected = (error: SqlError.SqlError): boolean => {
  const code = readSqlState(error.reason.cause)
  return code === divisionByZero || code === uniqueViolation
}
