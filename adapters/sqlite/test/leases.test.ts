/** The SQL journal with leases, as on a database that several nodes share. SQLite itself never needs them. */
import { journalStoreContract } from "@weft/contract"
import { Database, journalStore, migrate, recordStores, sqlite } from "@weft/sql"
import { Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

const shared = Effect.gen(function* () {
  const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: false })
  return yield* Effect.as(Effect.provideService(migrate, Database, database), database)
})

journalStoreContract(
  "SQL with leases",
  Layer.merge(recordStores, journalStore).pipe(Layer.provide(Layer.effect(Database, shared))),
  { exclusive: false }
)
