/** What the conformance tests run on: the backend of the run. In memory they run where the client sends what it can. */
import { type StartOptions, type TrustedModule, trustedSandbox } from "@weft/core"
import type { HttpOptions } from "@weft/http"
import { afterAll, beforeAll, describe } from "vitest"
import { backendOfRun, backends } from "../server/Backend.ts"
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

/** A busy machine takes its time to open a database. */
const startMs = 60_000

/** Runs the tests on a server of their own, which is there before them and gone after. */
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
        if (server === undefined) throw new Error("The server is there from the first test on")
        return server
      }
    })
  })
}
