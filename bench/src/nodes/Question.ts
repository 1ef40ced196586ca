/** Questions that the benchmark itself asks the database, past all proxies. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

export type Row = Readonly<Record<string, unknown>>

export type Question = (text: string, parameters?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>

/** Each on a connection of its own, as the database may have been away meanwhile. */
export const questions =
  (url: string): Question =>
  (text, parameters = []) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* PgConnection.make({
            url: Redacted.make(url),
            startupParameters: { search_path: "weft,public" },
            maxMessageSize: 64 * 1024 * 1024
          })
          const { rows } = yield* connection.query(text, parameters)
          return rows.map(withNumbers)
        })
      )
    )

/** None of the whole numbers that are asked for is beyond what a number can hold. */
const withNumbers = (row: object): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])
  )
