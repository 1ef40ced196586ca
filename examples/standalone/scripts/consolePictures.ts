/** `npm run pictures -w examples/standalone`: takes pictures of every page of the console, light and dark. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { consoleApp } from "@weft/tooling/programs"
import type { Browser, Page } from "playwright-core"
import { openBrowser, openPage, signIn } from "../test/console/Browser.ts"
import {
  deployShop,
  makeActivity,
  newestRun,
  startFollowed,
  storeData,
  uploadShopWithout
} from "../test/console/Shop.ts"
import { apiKey, type ServerProcess, startServer } from "../test/ServerProcess.ts"

/** Folder of the pictures: the documentation's by default. */
const folder = process.argv[2] ?? fileURLToPath(new URL("../../../docs/pictures/console", import.meta.url))

interface Shot {
  readonly name: string
  readonly path: string
  /** Text that shows that the page is complete. */
  readonly ready: string | RegExp
}

const shotsOf = async (server: ServerProcess): Promise<ReadonlyArray<Shot>> => {
  const failedId = await newestRun(server, "/v1/runs?status=failed")
  const durableId = await newestRun(server, "/v1/runs?waiting=any")
  const undeployed = await uploadShopWithout(server, "nightly")
  const projectId = JSON.stringify(await server.call("GET", "/v1/projects/shop")).match(/"project_id":"([^"]+)"/)?.[1]
  const running = await startFollowed(server, 60)
  return [
    { name: "overview", path: "/", ready: "Usage of the plan" },
    { name: "runs", path: "/runs", ready: "in total" },
    { name: "run-failed", path: `/runs/${failedId}`, ready: "RangeError" },
    { name: "run-durable", path: `/runs/${durableId}`, ready: "create account" },
    { name: "waiting", path: "/waiting", ready: "wait a day" },
    { name: "webhooks", path: "/webhooks?endpoint=GET%20%2Fshop%2Fstatus", ready: "Recent calls" },
    { name: "projects", path: "/projects", ready: "shop" },
    { name: "project", path: `/projects/${projectId}?build=${undeployed}`, ready: "Removed" },
    { name: "editor", path: "/editor?project=greetings", ready: "svc.log.info" },
    { name: "secrets", path: "/secrets?project=shop", ready: "PAYMENT_KEY" },
    { name: "files", path: "/files", ready: "invoices/2026-04.pdf" },
    { name: "domains", path: "/domains", ready: "No domain yet" },
    { name: "audit", path: "/audit", ready: "build.deploy" },
    { name: "events", path: "/events", ready: "in total" },
    { name: "functions", path: "/functions", ready: "orders/confirm" },
    { name: "schedules", path: "/schedules", ready: "0 3 * * *" },
    { name: "access", path: "/access", ready: "This session" },
    { name: "run-live", path: `/runs/${running}`, ready: "step 3" }
  ]
}

/** Runs the source of a new project. */
const runGreeting = async (page: Page): Promise<void> => {
  await page.getByRole("option", { name: "main/greet" }).waitFor({ state: "attached" })
  await page.locator(".actions button").filter({ hasText: "Run" }).click()
  await page.getByText('"Hello, Ada"').waitFor()
}

const take = async (page: Page, server: ServerProcess, { name, path, ready }: Shot, variant: string): Promise<void> => {
  await page.goto(`${server.url}/console${path}`)
  await page.getByText(ready).first().waitFor()
  if (name === "editor") await runGreeting(page)
  await page.waitForTimeout(400)
  await page.screenshot({ path: join(folder, `${name}-${variant}.png`) })
}

const takeAll = async (browser: Browser, server: ServerProcess): Promise<void> => {
  const shots = await shotsOf(server)
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await openPage(browser, `${server.url}/console`, { colorScheme, width: 1360, height: 860 })
    await page.screenshot({ path: join(folder, `sign-in-${colorScheme}.png`) })
    await signIn(page, apiKey)
    await page.getByText("Runs per minute").waitFor()
    for (const shot of shots) await take(page, server, shot, colorScheme)
    await page.context().close()
  }
  for (const width of process.argv.includes("--widths") ? [360, 2560] : []) {
    const { page } = await openPage(browser, `${server.url}/console`, { width, height: width === 360 ? 740 : 1300 })
    await signIn(page, apiKey)
    await page.getByText("Runs per minute").waitFor()
    for (const shot of shots) await take(page, server, shot, String(width))
    await page.context().close()
  }
}

const dataDir = mkdtempSync(join(tmpdir(), "weft-pictures-"))
mkdirSync(folder, { recursive: true })
await consoleApp()
const server = await startServer(dataDir)
const browser = await openBrowser()
try {
  await deployShop(server)
  await makeActivity(server, 90)
  await storeData(server)
  await takeAll(browser, server)
} finally {
  await browser.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
