/** Databases for tests. Each build of a layer has a file of its own, which is removed with it. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { MemoryStores } from "@weft/core/testing"
import { Database, journalStore, recordStores, sqlite } from "@weft/sql"
import { database } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "weft-sqlite-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** An empty, migrated database that tests copy. Migrating each new one would take most of the time. */
const template: Promise<string> = Effect.runPromise(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "weft-sqlite-")), "weft.db")).pipe(
    Effect.tap((file) => Effect.scoped(Layer.build(database({ file, synchronous: "normal" })))),
    Effect.tap((file) => Effect.sync(() => process.once("exit", () => rmSync(dirname(file), { recursive: true }))))
  )
)

const freshCopy = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "weft.db")
  copyFileSync(yield* Effect.promise(() => template), file)
  return file
})

export const freshFile = Layer.unwrap(Effect.map(freshCopy, (file) => database({ file, synchronous: "normal" })))

/**
 * As `freshFile`, with the journal in the main thread. A thread takes 250 ms to start. Also, Node with type stripping
 * sometimes crashes when hundreds of threads start and end in one process.
 */
export const freshFileWithoutThread = Layer.unwrap(
  Effect.map(freshCopy, (file) =>
    Layer.merge(recordStores, journalStore).pipe(
      Layer.provide(
        Layer.effect(
          Database,
          Effect.gen(function* () {
            const writer = yield* open({ file, synchronous: "normal", readonly: false })
            const reader = yield* open({ file, synchronous: "normal", readonly: true })
            return Database.of({ dialect: sqlite, writer, reader, exclusive: true })
          })
        )
      ),
      Layer.merge(MemoryStores.rates)
    )
  )
)
