/** Databases for tests: each build of a layer has a file of its own, which goes with it. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { MemoryStores } from "@weft/core"
import { Database, journalStore, recordStores, sqlite } from "@weft/sql"
import { stores } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "weft-sqlite-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** A database that is up to date and empty, made once: bringing each new one there would take most of the time. */
const template: Promise<string> = Effect.runPromise(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "weft-sqlite-")), "weft.db")).pipe(
    Effect.tap((file) => Effect.scoped(Layer.build(stores({ file, synchronous: "normal" })))),
    Effect.tap((file) => Effect.sync(() => process.once("exit", () => rmSync(dirname(file), { recursive: true }))))
  )
)

const freshCopy = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "weft.db")
  copyFileSync(yield* Effect.promise(() => template), file)
  return file
})

export const freshFile = Layer.unwrap(Effect.map(freshCopy, (file) => stores({ file, synchronous: "normal" })))

/**
 * As `freshFile`, with the journal in the main thread. A thread costs a quarter of a second to start, and Node that runs
 * TypeScript as it is crashes now and then where hundreds of threads begin and end in one process.
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
