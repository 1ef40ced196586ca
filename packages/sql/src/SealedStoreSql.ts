/**
 * `SealedStore` on SQL: every column with sealed values.
 *
 * `SealedColumns.ts` lists them. The contract checks every table of `SealContext`.
 */
import { keyIdOf, type SealContext, type Sealed, SealedStore, type SealedValue } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import { type SealedColumn, sealedColumns } from "./SealedColumns.ts"

export const layer: Layer.Layer<SealedStore, never, Database> = Layer.effect(
  SealedStore,
  Effect.gen(function* () {
    const { reader, writer } = yield* Database

    const sealedIn = (column: SealedColumn, keyId: string, after: SealContext | null, limit: number) => {
      const sealed = reader(column.column)
      const terms: Array<Statement.Fragment> = [
        reader`${sealed} IS NOT NULL`,
        column.large === undefined
          ? reader`substr(${sealed}, 1, 17) <> ${`${keyId}.`}`
          : reader`${reader(column.large.keyId)} <> ${keyId}`
      ]
      if (after?.table === column.table) terms.push(isAfter(reader, column, after.id))
      const keys = column.key.map((name) => reader`${reader(name)}`)
      const id = reader.join(" || '/' || ", false)(keys)
      return Effect.map(
        reader<{ id: string; sealed: Sealed }>`SELECT ${id} AS id, ${sealed} AS sealed
          FROM ${reader(column.table)} WHERE ${reader.and(terms)}
          ORDER BY ${reader.csv(keys)} LIMIT ${Math.min(limit, column.large?.rowsMax ?? limit)}`,
        (rows) => rows.map((row): SealedValue => ({ place: { table: column.table, id: row.id }, sealed: row.sealed }))
      )
    }

    const sealedByOthers = Effect.fnUntraced(function* (keyId: string, after: SealContext | null, limit: number) {
      const found: Array<SealedValue> = []
      const first = after === null ? 0 : sealedColumns.findIndex(({ table }) => table === after.table)
      for (const column of sealedColumns.slice(first)) {
        if (found.length === limit) break
        found.push(...(yield* sealedIn(column, keyId, after, limit - found.length)))
      }
      return found
    })

    return SealedStore.of({
      sealedByOthers: (keyId, { after, limit }) =>
        sealedByOthers(keyId, after, limit).pipe(orUnavailable("sealedByOthers")),

      replace: ({ place, sealed }, next) =>
        Effect.gen(function* () {
          const column = sealedColumns.find(({ table }) => table === place.table)
          if (column === undefined) return false
          const terms = isAt(writer, column, place.id)
          const keyId = column.large === undefined ? {} : { [column.large.keyId]: keyIdOf(next) }
          const values = { [column.column]: next, ...keyId }
          const replaced = yield* writer`UPDATE ${writer(column.table)} SET ${writer.update(values)}
            WHERE ${terms} AND ${writer(column.column)} = ${sealed} RETURNING 1 AS replaced`
          return replaced.length === 1
        }).pipe(orUnavailable("replace"))
    })
  })
)

/** Splits the id of a value into its key columns. Only the last may contain a slash. */
const splitId = ({ key }: SealedColumn, id: string): ReadonlyArray<string> => {
  const parts = id.split("/")
  return [...parts.slice(0, key.length - 1), parts.slice(key.length - 1).join("/")]
}

const isAt = (sql: SqlClient.SqlClient, column: SealedColumn, id: string): Statement.Fragment =>
  sql.and(column.key.map((name, index) => sql`${sql(name)} = ${splitId(column, id)[index] ?? ""}`))

/** True if a row comes after the id in the order of the primary key. */
const isAfter = (sql: SqlClient.SqlClient, column: SealedColumn, id: string): Statement.Fragment => {
  const parts = splitId(column, id)
  const names = column.key.map((name) => sql`${sql(name)}`)
  return sql`(${sql.csv(names)}) > (${sql.csv(parts.map((part) => sql`${part}`))})`
}
