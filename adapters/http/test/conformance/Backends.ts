/** What the conformance tests run on: the backend of the run, and everything in memory, which is quickly done. */
import { type StartOptions, type TrustedModule, trustedSandbox } from "@weft/core"
import type { HttpOptions } from "@weft/http"
import { afterAll, beforeAll, describe } from "vitest"
import { type BackendName, backendOfRun, backends } from "../server/Backend.ts"
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

const names: ReadonlyArray<BackendName> =
  backendOfRun === "SQLite and files" ? ["memory", backendOfRun] : [backendOfRun]

/** A busy machine takes its time to open a database. */
const startMs = 60_000

/** Runs the tests on each backend, with a server of its own that is there before them and gone after. */
export const onEveryBackend = (
  { modules, http = {}, weft = {} }: WorldOptions,
  tests: (world: World) => void
): void => {
  for (const name of names) {
    describe(name, () => {
      let server: TestServer | undefined
      beforeAll(async () => {
        const starting = startWeft({ ...weft, ...backends[name], sandbox: trustedSandbox(modules) })
        server = await TestServer.start(http, adminToken, starting)
      }, startMs)
      afterAll(() => server?.close())
      tests({
        server: () => {
          if (server === undefined) throw new Error("The server is there from the first test on")
          return server
        }
      })
    })
  }
}
