/** What the servers of the tests keep their data in: the same tests hold on each. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MemoryStores, type StartOptions } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Postgres from "@weft/postgres"
import * as S3 from "@weft/s3"
import * as Sqlite from "@weft/sqlite"
import { databases } from "@weft/tooling/databases"
import { Effect, Layer, Redacted, Result } from "effect"
import { inject } from "vitest"

export type BackendName = "memory" | "SQLite and files" | "PostgreSQL and S3"

declare module "vitest" {
  interface ProvidedContext {
    /** What the project of this run is for. */
    readonly httpBackend: BackendName
  }
}

export const backendOfRun: BackendName = inject("httpBackend")

/** Empty at each start; what was stored goes when Weft is closed. */
export type Backend = Pick<StartOptions, "stores" | "blobs">

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "weft-http-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true }))
)

const { freshDatabase } = databases((url) => Layer.build(Postgres.stores({ url })))
const postgresStores = Layer.unwrap(Effect.map(freshDatabase, (url) => Postgres.stores({ url })))

/** A folder of its own in the bucket of the run. */
const s3Blobs = Layer.unwrap(
  Effect.sync(() => {
    const options = Result.getOrThrow(S3.parseUrl(Redacted.make(inject("s3Url"))))
    return S3.blobs({ ...options, prefix: randomUUID() })
  })
)

export const backends: Readonly<Record<BackendName, Backend>> = {
  memory: { stores: MemoryStores.database, blobs: MemoryStores.blobs },
  "SQLite and files": {
    stores: Layer.unwrap(
      Effect.map(folder, (dir) => Sqlite.stores({ file: join(dir, "weft.db"), synchronous: "normal" }))
    ),
    blobs: Layer.unwrap(Effect.map(folder, (dir) => Filesystem.blobs({ dir })))
  },
  "PostgreSQL and S3": { stores: postgresStores, blobs: s3Blobs }
}
