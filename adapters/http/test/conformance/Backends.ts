/** What the conformance tests run on: everything in memory, and SQLite with files in a folder. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type StartOptions, type TrustedModule, trustedSandbox } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import type { HttpOptions } from "@weft/http"
import * as Sqlite from "@weft/sqlite"
import { afterAll, beforeAll, describe } from "vitest"
import { adminToken, startWeft, TestServer } from "../server/TestServer.ts"

export interface World {
  /** There from the first test on. */
  readonly server: () => TestServer
}

export interface WorldOptions {
  readonly modules: Readonly<Record<string, TrustedModule>>
  readonly http?: HttpOptions
  /** What Weft itself is started with, beside its stores. */
  readonly weft?: Partial<StartOptions>
}

const folder = (): string => mkdtempSync(join(tmpdir(), "weft-conformance-"))

const storesIn = (dir: string) => ({
  stores: Sqlite.stores({ file: join(dir, "weft.db"), synchronous: "normal" }),
  blobs: Filesystem.blobs({ dir: join(dir, "blobs") })
})

/** A busy machine takes its time to open a database. */
const startMs = 60_000

/** Runs the tests on each backend, with a server of its own that is there before them and gone after. */
export const onEveryBackend = (
  { modules, http = {}, weft = {} }: WorldOptions,
  tests: (world: World) => void
): void => {
  for (const backend of ["memory", "SQLite and files"] as const) {
    describe(backend, () => {
      let server: TestServer | undefined
      let dir: string | undefined
      beforeAll(async () => {
        if (backend !== "memory") dir = folder()
        const stores = dir === undefined ? {} : storesIn(dir)
        server = await TestServer.start(
          http,
          adminToken,
          startWeft({ ...weft, ...stores, sandbox: trustedSandbox(modules) })
        )
      }, startMs)
      afterAll(async () => {
        await server?.close()
        if (dir !== undefined) rmSync(dir, { recursive: true })
      })
      tests({
        server: () => {
          if (server === undefined) throw new Error("The server is there from the first test on")
          return server
        }
      })
    })
  }
}
