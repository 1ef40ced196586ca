/** All stores in one SQLite file, or in memory. */

import { resolve } from "node:path"
import { type Stores, WorkflowStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Database, journalStore, makeWorkflows, migrate, recordStores, sqlite } from "@weft/sql"
import { Cause, Context, Effect, Layer } from "effect"
import { checkContent, inspectFile } from "./DamageCheck.ts"
import { acquireFile } from "./DatabaseFile.ts"
import { type DatabaseInUse, DatabaseUnusable } from "./Errors.ts"
import * as JournalThread from "./JournalThread.ts"
import { type ConnectionOptions, open } from "./SqliteClient.ts"
import { WriteLock } from "./WriteLock.ts"

export interface SqliteOptions {
  /** A path, or `:memory:`. The file and its folder are created if they do not exist. */
  readonly file: string
  /**
   * `full` by default: acknowledged writes survive a power loss. `normal`: commits are faster, and acknowledged writes
   * survive a crash of the process only.
   */
  readonly synchronous?: "full" | "normal"
}

export type SqliteStores = Stores

/** Locks the file for the life of the layer, so that no other process can open it. */
export const database = ({
  file,
  synchronous = "full"
}: SqliteOptions): Layer.Layer<SqliteStores, DatabaseInUse | DatabaseUnusable> => {
  if (file === ":memory:") {
    return Layer.merge(recordStores, journalStore).pipe(
      Layer.provide(Layer.effect(Database, openInMemory)),
      Layer.merge(MemoryStores.rates)
    )
  }
  const options: ConnectionOptions = { file: resolve(file), synchronous, readonly: false }
  return Layer.unwrap(
    Effect.gen(function* () {
      yield* acquireFile(options.file)
      // Started first, so that it loads its modules during the migration. It is not called before that is done.
      const lock = new WriteLock()
      const thread = yield* JournalThread.start(options, lock)
      const journal = Layer.effectContext(
        Effect.map(Database, (database) =>
          Context.add(
            JournalThread.makeStores(thread),
            WorkflowStore,
            makeWorkflows(database, JournalThread.makeArrivals(thread))
          )
        )
      )
      return Layer.merge(recordStores, journal).pipe(Layer.provide(Layer.effect(Database, openFile(options, lock))))
    })
  ).pipe(
    // One process owns the file, so rates are counted in memory.
    Layer.merge(MemoryStores.rates)
  )
}

const openInMemory = Effect.gen(function* () {
  const writer = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  return yield* migrateDatabase(writer, writer)
}).pipe(Effect.orDie)

const openFile = (options: ConnectionOptions, lock: WriteLock) =>
  Effect.gen(function* () {
    const state = yield* Effect.try({ try: () => inspectFile(options.file), catch: (cause) => cause })
    const writer = yield* open(options, lock.main)
    yield* checkContent(options.file, state, writer)
    // A separate reader, so that lists do not wait for transactions.
    return yield* migrateDatabase(writer, yield* open({ ...options, readonly: true }))
  }).pipe(
    Effect.catchCause((cause) => Effect.fail(new DatabaseUnusable({ file: options.file, cause: Cause.squash(cause) })))
  )

type Client = Effect.Success<ReturnType<typeof open>>

const migrateDatabase = (writer: Client, reader: Client) => {
  const database = Database.of({ dialect: sqlite, writer, reader, exclusive: true })
  return Effect.as(Effect.provideService(migrate, Database, database), database)
}
