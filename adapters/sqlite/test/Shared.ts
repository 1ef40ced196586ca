/** An in-memory database in shared mode, with leases. In production, SQLite has one node only. */
import { MemoryStores } from "@weft/core/testing"
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

/** All layers that a node needs, except the sandbox. */
export const sharedStores = Layer.mergeAll(recordStores, journalStore).pipe(
  Layer.provide(sharedDatabase),
  Layer.merge(MemoryStores.rates),
  Layer.merge(MemoryStores.blobs),
  Layer.merge(MemoryStores.cluster)
)
