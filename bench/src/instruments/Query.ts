/** Queries that benchmarks and proofs send to PostgreSQL directly, without the proxy of a node. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

export type Row = Readonly<Record<string, unknown>>

export type Query = (text: string, parameters?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>

/** Runs each query on a connection of its own, because the database may have restarted since the last one. */
export const queryAt =
  (url: string): Query =>
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

/** Converts bigints to numbers; all integers in these queries are safe. */
const withNumbers = (row: object): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])
  )
