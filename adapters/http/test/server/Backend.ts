/** The stores of the test servers. The same tests run on each. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { StartOptions } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
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
    /** The backend of this vitest project. */
    readonly httpBackend: BackendName
  }
}

export const backendOfRun: BackendName = inject("httpBackend")

/** Empty at each start, and deleted when Weft is closed. */
export type Backend = Pick<StartOptions, "database" | "blobs">

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "weft-http-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true }))
)

const { freshDatabase } = databases((url) => Layer.build(Postgres.database({ url })))
const postgresStores = Layer.unwrap(Effect.map(freshDatabase, (url) => Postgres.database({ url })))

/** A separate folder in the bucket of the test run. */
const s3Blobs = Layer.unwrap(
  Effect.sync(() => {
    const options = Result.getOrThrow(S3.parseUrl(Redacted.make(inject("s3Url"))))
    return S3.blobs({ ...options, prefix: randomUUID() })
  })
)

export const backends: Readonly<Record<BackendName, Backend>> = {
  memory: { database: MemoryStores.database, blobs: MemoryStores.blobs },
  "SQLite and files": {
    database: Layer.unwrap(
      Effect.map(folder, (dir) => Sqlite.database({ file: join(dir, "weft.db"), synchronous: "normal" }))
    ),
    blobs: Layer.unwrap(Effect.map(folder, (dir) => Filesystem.blobs({ dir })))
  },
  "PostgreSQL and S3": { database: postgresStores, blobs: s3Blobs }
}
