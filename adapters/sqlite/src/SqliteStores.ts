/** All stores of Weft in one SQLite file, or in memory. */

import { resolve } from "node:path"
import { MemoryStores, type Stores } from "@weft/core"
import { Database, journalStore, migrate, recordStores, sqlite } from "@weft/sql"
import { Cause, Effect, Layer } from "effect"
import { hold } from "./DatabaseFile.ts"
import { type DatabaseInUse, DatabaseUnusable } from "./Errors.ts"
import * as JournalThread from "./JournalThread.ts"
import { type ConnectionOptions, open } from "./SqliteClient.ts"
import { WriteTurn } from "./WriteTurn.ts"

export interface SqliteOptions {
  /** A path, made with its folder where it is missing, or `:memory:`. */
  readonly file: string
  /**
   * `full` (the default): what was acknowledged survives a loss of power. `normal`: it survives the end of the
   * process, and commits are faster.
   */
  readonly synchronous?: "full" | "normal"
}

export type SqliteStores = Stores

/** Holds the file for the life of the layer: no other process can have it open meanwhile. */
export const stores = ({
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
      yield* hold(options.file)
      // It loads its modules while the tables are made, and is asked nothing before they are there.
      const turn = new WriteTurn()
      const thread = yield* JournalThread.begin(options, turn)
      const journal = Layer.effectContext(Effect.as(Database, JournalThread.storesOf(thread)))
      return Layer.merge(recordStores, journal).pipe(Layer.provide(Layer.effect(Database, openFile(options, turn))))
    })
  ).pipe(
    // One process owns the file, so that nobody else counts.
    Layer.merge(MemoryStores.rates)
  )
}

const openInMemory = Effect.gen(function* () {
  const writer = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  return yield* upToDate(writer, writer)
}).pipe(Effect.orDie)

const openFile = (options: ConnectionOptions, turn: WriteTurn) =>
  Effect.gen(function* () {
    const writer = yield* open(options, turn.main)
    // A reader of its own, so that lists do not wait behind transactions.
    return yield* upToDate(writer, yield* open({ ...options, readonly: true }))
  }).pipe(
    Effect.catchCause((cause) => Effect.fail(new DatabaseUnusable({ file: options.file, cause: Cause.squash(cause) })))
  )

type Client = Effect.Success<ReturnType<typeof open>>

const upToDate = (writer: Client, reader: Client) => {
  const database = Database.of({ dialect: sqlite, writer, reader, exclusive: true })
  return Effect.as(Effect.provideService(migrate, Database, database), database)
}
