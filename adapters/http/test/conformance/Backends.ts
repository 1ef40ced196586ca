/** The backend of the conformance tests. In memory, they use the client for all requests that it supports. */
import type { StartOptions } from "@weft/core"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import type { HttpOptions } from "@weft/http"
import { afterAll, beforeAll, describe } from "vitest"
import { backendOfRun, backends } from "../server/Backend.ts"
import { adminToken, startWeft, TestServer } from "../server/TestServer.ts"

export interface World {
  /** Available from the first test. */
  readonly server: () => TestServer
}

export interface WorldOptions {
  readonly modules: Readonly<Record<string, TrustedModule>>
  readonly http?: HttpOptions
  /** Options of Weft besides its stores. */
  readonly weft?: Partial<StartOptions>
}

/** Maximum time to open a database, on a busy machine. */
const startMs = 60_000

/** Runs the tests on a separate server, started before and closed after them. */
export const onBackendOfRun = (
  { modules, http = {}, weft = {} }: WorldOptions,
  tests: (world: World) => void
): void => {
  describe(backendOfRun, () => {
    let server: TestServer | undefined
    beforeAll(async () => {
      const starting = startWeft({ ...weft, ...backends[backendOfRun], sandbox: trustedSandbox(modules) })
      server = await TestServer.start(http, adminToken, starting)
    }, startMs)
    afterAll(() => server?.close())
    tests({
      server: () => {
        if (server === undefined) throw new Error("The server is available from the first test only")
        return server
      }
    })
  })
}
