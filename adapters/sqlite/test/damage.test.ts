/** Databases that a start must refuse: of later releases, truncated or damaged. */
import { closeSync, openSync, statSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { TenantStore } from "@weft/core/adapter"
import { database } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { temporaryFolder } from "./Fresh.ts"

const opened = (file: string) => Effect.scoped(Layer.build(database({ file })))

const refusal = (file: string) => Effect.map(Effect.flip(opened(file)), ({ message }: { message: string }) => message)

/** Creates a database and closes it. */
const created = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "weft.db")
  yield* opened(file)
  return file
})

const change = (file: string, sql: string): void => {
  using connection = new DatabaseSync(file)
  connection.exec(sql)
}

describe("a database of another release", () => {
  it.effect("starts if the release is one ahead, so that a rollback is possible", () =>
    Effect.gen(function* () {
      const file = yield* created
      change(file, "INSERT INTO generations SELECT MAX(generation) + 1 FROM generations")
      change(file, "INSERT INTO weft_migrations (migration_id, name) VALUES (9999, 'later')")
      yield* opened(file)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused if the release is two ahead", () =>
    Effect.gen(function* () {
      const file = yield* created
      change(file, "INSERT INTO generations SELECT MAX(generation) + 2 FROM generations")
      assert.include(yield* refusal(file), "the schema is of a later release that this one cannot follow")
    }).pipe(Effect.scoped)
  )

  it.effect("is refused if it has unknown steps of no known release", () =>
    Effect.gen(function* () {
      const file = yield* created
      change(file, "INSERT INTO weft_migrations (migration_id, name) VALUES (9999, 'later')")
      assert.include(yield* refusal(file), "the schema is of a later release that this one cannot follow")
      change(file, "DROP TABLE generations")
      assert.include(yield* refusal(file), "the schema is of a later release that this one cannot follow")
    }).pipe(Effect.scoped)
  )
})

describe("a damaged database", () => {
  it.effect("is refused if its file was truncated", () =>
    Effect.gen(function* () {
      const file = yield* created
      const { size } = statSync(file)
      truncateSync(file, size - 4096)
      assert.include(yield* refusal(file), `it is damaged: the file has ${size - 4096} bytes instead of ${size}`)
      truncateSync(file, 50)
      assert.include(yield* refusal(file), "it is damaged: the file has 50 bytes instead of 100")
    }).pipe(Effect.scoped)
  )

  it.effect("is refused if a page was overwritten", () =>
    Effect.gen(function* () {
      const file = yield* created
      overwrite(file, rootPage(file, "orgs"))
      assert.match(yield* refusal(file), /it is damaged: .*Restore a backup/)
    }).pipe(Effect.scoped)
  )

  it.effect("answers StoreUnavailable, and no empty result, if the damage occurs later", () =>
    Effect.gen(function* () {
      const file = yield* created
      const stores = yield* Layer.build(database({ file }))
      // All pages but the first: a query may read only an index.
      for (let page = 2; page <= statSync(file).size / 4096; page++) overwrite(file, page)
      const read = TenantStore.use((store) => store.listOrgs({ limit: 10, offset: 0 }))
      assert.strictEqual((yield* Effect.flip(Effect.provide(read, stores)))._tag, "StoreUnavailable")
    }).pipe(Effect.scoped)
  )
})

/** Returns the number of the first page of a table, from 1. */
const rootPage = (file: string, table: string): number => {
  using connection = new DatabaseSync(file)
  return Number(connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage)
}

const overwrite = (file: string, page: number): void => {
  const descriptor = openSync(file, "r+")
  try {
    writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096)
  } finally {
    closeSync(descriptor)
  }
}
