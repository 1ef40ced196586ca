/** A suite with a server and a person who is signed in. Every page must be free of errors and of policy violations. */
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest"
import { apiKey, type ServerProcess } from "../ServerProcess.ts"
import { openBrowser, openPage, signedInState, type Watched } from "./Browser.ts"
import { type ConsoleServer, startConsoleServer } from "./ConsoleServer.ts"

export interface ConsoleSuite {
  readonly server: ServerProcess
  readonly browser: Browser
  /** The page of the current test, with its errors. */
  readonly watched: Watched
}

interface SuiteOptions {
  /** Path of the page that each test begins with. */
  readonly path?: string
  /** Prepares the server, once. */
  readonly prepare?: (server: ServerProcess) => Promise<void>
  /** Waits until the page shows its content. */
  readonly shown: (page: Page) => Promise<void>
}

/** Registers the hooks of the suite. Its parts exist in tests and in later hooks. */
export const consoleSuite = ({ path = "", prepare, shown }: SuiteOptions): ConsoleSuite => {
  let started: ConsoleServer | undefined
  let browser: Browser | undefined
  let storageState: Awaited<ReturnType<typeof signedInState>> | undefined
  let watched: Watched | undefined
  const there = <A>(part: A | undefined): A => {
    if (part === undefined) throw new Error("The suite has not started")
    return part
  }
  const suite: ConsoleSuite = {
    get server() {
      return there(started).server
    },
    get browser() {
      return there(browser)
    },
    get watched() {
      return there(watched)
    }
  }
  beforeAll(async () => {
    started = await startConsoleServer()
    browser = await openBrowser()
    storageState = await signedInState(browser, `${suite.server.url}/console`, apiKey)
    await prepare?.(suite.server)
  })
  afterAll(async () => {
    await browser?.close()
    await started?.close()
  })
  beforeEach(async () => {
    watched = await openPage(suite.browser, `${suite.server.url}/console${path}`, {
      storageState: there(storageState)
    })
    await shown(watched.page)
  })
  afterEach(async () => {
    expect(suite.watched.faults).toStrictEqual([])
    await suite.watched.page.context().close()
  })
  return suite
}
