/** The last release on the current schema, as after a rollback of an upgrade. */
import type { databaseContracts } from "@weft/contract"
import type { MemoryStores } from "@weft/core/testing"
import * as sql from "@weft/sql"
import { layerWithFormerRecords } from "@weft/tooling/previous-fields"
import { loadPreviousRelease } from "@weft/tooling/previous-release"
import { Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

/** The previous release, as far as this test runs it. */
interface PreviousRelease {
  readonly databaseContracts: typeof databaseContracts
  readonly core: { readonly MemoryStores: typeof MemoryStores }
  readonly sql: Pick<typeof sql, "Database" | "recordStores" | "journalStore" | "sqlite">
}

const previous = await loadPreviousRelease<PreviousRelease>()

const currentSchema = Effect.gen(function* () {
  const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  const database = { writer: client, reader: client, exclusive: true }
  yield* Effect.provideService(sql.migrate, sql.Database, sql.Database.of({ ...database, dialect: sql.sqlite }))
  return previous.sql.Database.of({ ...database, dialect: previous.sql.sqlite })
})

const stores = Layer.merge(previous.sql.recordStores, previous.sql.journalStore).pipe(
  Layer.provide(Layer.effect(previous.sql.Database, currentSchema)),
  Layer.merge(previous.core.MemoryStores.rates)
)

previous.databaseContracts("the last release on the current SQLite schema", layerWithFormerRecords(stores), {
  exclusive: true
})
