/** Databases for tests: each build of a layer has a file of its own, which goes with it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stores } from "@weft/sqlite"
import { Effect, Layer } from "effect"

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "weft-sqlite-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

export const freshFile = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => stores({ file: join(folder, "weft.db"), synchronous: "normal" }))
)
