/** A database in memory as several nodes share one, with leases. SQLite itself has one node only. */
import { MemoryStores } from "@weft/core"
import { Database, journalStore, migrate, recordStores, sqlite } from "@weft/sql"
import { Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

export const sharedDatabase = Layer.effect(
  Database,
  Effect.gen(function* () {
    const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
    const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: false })
    return yield* Effect.as(Effect.provideService(migrate, Database, database), database)
  }).pipe(Effect.orDie)
)

/** All that a node needs but the sandbox. */
export const sharedStores = Layer.mergeAll(recordStores, journalStore).pipe(
  Layer.provide(sharedDatabase),
  Layer.merge(MemoryStores.rates),
  Layer.merge(MemoryStores.blobs),
  Layer.merge(MemoryStores.feed)
)
