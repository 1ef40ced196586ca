/** Chromium with pages that report every error, violation of the security policy and request to another origin. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { installChromium } from "@weft/tooling/services"
import {
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  chromium,
  type Frame,
  type Page
} from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

export interface Watched {
  readonly page: Page
  /** Errors so far, of the console and of the network. */
  readonly faults: Array<string>
}

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: installChromium(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
  })

export interface PageOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: "light" | "dark"
  readonly locale?: string
  /** The cookies of a person who is signed in. */
  readonly storageState?: Awaited<ReturnType<BrowserContext["storageState"]>>
}

/** Opens a page in a profile of its own. */
export const openPage = async (
  browser: Browser,
  url: string,
  { width = 1280, height = 800, colorScheme = "light", locale = "en-GB", ...more }: PageOptions = {}
): Promise<Watched> => {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale,
    timezoneId: "UTC",
    ...more,
    permissions: ["clipboard-read", "clipboard-write"]
  })
  const page = await context.newPage()
  const faults: Array<string> = []
  const { origin } = new URL(url)
  page.on("console", (message) => {
    if (message.type() === "error" && !isExpected(message)) faults.push(message.text())
  })
  page.on("pageerror", (error) => faults.push(String(error)))
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) faults.push(request.url())
  })
  await page.goto(url)
  return { page, faults }
}

/**
 * Browsers log every response with an error. The first question about the session is answered with 401, and that about the
 * canary of a project that never had one with 404.
 */
const isExpected = (message: ConsoleMessage): boolean =>
  message.text().includes("401") || (message.text().includes("404") && message.location().url.endsWith("/canary"))

/** Signs in with a token, and waits for the overview. */
export const signIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel(/API key or admin token|API-Schlüssel/).fill(token)
  await page.getByRole("button", { name: /Sign in|Anmelden/ }).click()
}

/** Signs in once for many pages, because the server limits sign-ins of an address. */
export const signedInState = async (browser: Browser, url: string, token: string) => {
  const { page } = await openPage(browser, url)
  await signIn(page, token)
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  const state = await page.context().storageState()
  await page.context().close()
  return state
}

interface Violation {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** Returns the violations of WCAG 2.2 AA on the page or in the frame, a line each. */
export const violationsOn = async (page: Page | Frame): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe)
  const violations: ReadonlyArray<Violation> = await page.evaluate(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations)`
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll("\n", " ")}`)
  )
}
