/** Columns, constraints and indexes of a schema, for comparison. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"

export interface Column {
  readonly table: string
  readonly column: string
  /** The type with its collation. */
  readonly type: string
  readonly isRequired: boolean
  readonly hasDefault: boolean
}

export interface Shape {
  readonly columns: ReadonlyArray<Column>
  /** Definitions of keys, checks and other constraints, each after the name of its table. */
  readonly constraints: ReadonlyArray<string>
  readonly indexes: ReadonlyArray<string>
}

/** Reads the shape of Weft's schema in a database, without its partitions. */
export const readShape = (url: string): Effect.Effect<Shape> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
    const columns = yield* sql<Column>`
      SELECT c.relname::text AS table, a.attname::text AS column, a.attnotnull AS "isRequired",
        format_type(a.atttypid, a.atttypmod) || coalesce(' ' || (
          SELECT collname FROM pg_collation WHERE oid = a.attcollation), '') AS type,
        a.atthasdef OR a.attidentity <> '' AS "hasDefault"
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2`
    const constraints = yield* sql<{ readonly text: string }>`
      SELECT c.relname || ' ' || pg_get_constraintdef(k.oid) AS text
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      WHERE c.relnamespace = 'weft'::regnamespace AND NOT c.relispartition AND k.contype NOT IN ('n', 't') ORDER BY 1`
    const indexes = yield* sql<{ readonly text: string }>`
      SELECT c.relname || ' ' || pg_get_indexdef(i.indexrelid) AS text
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      WHERE c.relnamespace = 'weft'::regnamespace AND NOT c.relispartition ORDER BY 1`
    return {
      columns,
      constraints: constraints.map(({ text }) => text),
      indexes: indexes.map(({ text }) => text)
    }
  }).pipe(Effect.scoped, Effect.orDie)

/** A change that nodes of an older release could not work with. */
export interface Contraction {
  /** The change, in the words of `findIncompatible`. */
  readonly what: string
  /** The number of the last step of the first release that no longer used it. */
  readonly unusedSince: number
}

/** Returns the changes in `after` that break nodes of the release with the shape `before`. */
export const findIncompatible = (before: Shape, after: Shape): ReadonlyArray<string> => {
  const toName = ({ table, column }: Column): string => `${table}.${column}`
  const tables = new Set(before.columns.map(({ table }) => table))
  const former = new Map(before.columns.map((column) => [toName(column), column]))
  const now = new Map(after.columns.map((column) => [toName(column), column]))
  const changed = [...former].flatMap(([name, column]) => {
    const today = now.get(name)
    if (today === undefined) return [`${name} is removed`]
    return [
      ...(today.type === column.type ? [] : [`${name} has another type`]),
      ...(today.isRequired && !column.isRequired ? [`${name} is required now`] : [])
    ]
  })
  const required = [...now].flatMap(([name, { table, isRequired, hasDefault }]) =>
    tables.has(table) && !former.has(name) && isRequired && !hasDefault
      ? [`${name} is required and has no default`]
      : []
  )
  const isOld = (text: string): boolean => tables.has(text.slice(0, text.indexOf(" ")))
  const constrained = after.constraints.filter((text) => isOld(text) && !before.constraints.includes(text))
  const unique = after.indexes.filter(
    (text) => isOld(text) && text.includes(" UNIQUE ") && !before.indexes.includes(text)
  )
  const loosened = before.constraints.filter((text) => !after.constraints.includes(text))
  return [
    ...changed,
    ...required,
    ...constrained.map((text) => `new constraint: ${text}`),
    ...unique.map((text) => `new unique index: ${text}`),
    // ON CONFLICT of an old node refers to it.
    ...loosened.map((text) => `removed constraint: ${text}`)
  ]
}
