/** Databases for tests: each build of a layer has a file of its own, which goes with it. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { stores } from "@weft/sqlite"
import { Effect, Layer } from "effect"

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

export const freshFile = Layer.unwrap(
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "weft.db")
    copyFileSync(yield* Effect.promise(() => template), file)
    return stores({ file, synchronous: "normal" })
  })
)
