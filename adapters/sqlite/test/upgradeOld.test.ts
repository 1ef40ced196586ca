/** The last release on today's schema: what it comes back to when an upgrade is taken back. */
import { Database, migrate, sqlite } from "@weft/sql"
import { Effect, Layer } from "effect"
import * as previous from "../../postgres/test/fixtures/previous/index.js"
import { open } from "../src/SqliteClient.ts"

const todaysSchema = Effect.gen(function* () {
  const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  const database = { writer: client, reader: client, exclusive: true }
  yield* Effect.provideService(migrate, Database, Database.of({ ...database, dialect: sqlite }))
  return previous.sql.Database.of({ ...database, dialect: previous.sql.sqlite })
})

const stores = Layer.merge(previous.sql.recordStores, previous.sql.journalStore).pipe(
  Layer.provide(Layer.effect(previous.sql.Database, todaysSchema)),
  Layer.merge(previous.core.MemoryStores.rates)
)

previous.databaseContracts("the last release on today's SQLite schema", stores, { exclusive: true })
