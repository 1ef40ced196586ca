/** The reference server on a filled SQLite file, with a browser that is signed in to its console. */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { listening, referenceServer } from "@weft/tooling/programs"
import { installChromium } from "@weft/tooling/services"
import { type Browser, type BrowserContext, chromium } from "playwright-core"

const environment = "org-1 / main"
const timeoutMs = 120_000

export interface ConsoleProcess {
  readonly url: string
  /** Cookies of a person who is signed in to the filled environment. */
  readonly context: () => Promise<BrowserContext>
  /** Publishes an event in the filled environment. */
  readonly publish: () => Promise<void>
  readonly close: () => Promise<void>
}

export const startConsole = async (dataDir: string, envId: string): Promise<ConsoleProcess> => {
  const adminToken = randomUUID()
  const child = spawn(process.execPath, [await referenceServer()], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, WEFT_PORT: "0", WEFT_DATA_DIR: dataDir, WEFT_ADMIN_TOKEN: adminToken }
  })
  const url = await listening(child)
  const browser = await chromium.launch({
    executablePath: installChromium(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
  })
  const storageState = await signIn(browser, url, adminToken)
  const key = await createKey(url, adminToken, envId)
  return {
    url,
    context: () => browser.newContext({ storageState, viewport: { width: 1360, height: 860 }, locale: "en-GB" }),
    publish: () => publish(url, key),
    close: async () => {
      await browser.close()
      const exited = new Promise((resolve) => child.once("exit", resolve))
      child.kill("SIGTERM")
      await exited
    }
  }
}

const signIn = async (browser: Browser, url: string, token: string) => {
  const context = await browser.newContext({ locale: "en-GB" })
  const page = await context.newPage()
  page.setDefaultTimeout(timeoutMs)
  await page.goto(`${url}/console`)
  await page.getByLabel("API key or admin token").fill(token)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("button", { name: environment }).click()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

const createKey = async (url: string, adminToken: string, envId: string): Promise<string> => {
  const response = await fetch(`${url}/admin/envs/${envId}/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: "{}"
  })
  return (await response.text()).match(/"token":"([^"]+)"/)?.[1] ?? ""
}

const publish = async (url: string, key: string): Promise<void> => {
  await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ event_type: "bench:event", event_data: {} })
  })
}
