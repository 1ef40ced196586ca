/**
 * `npm run pictures -w examples/standalone`: takes pictures of every page of the console, light and dark.
 *
 * FOLDER           folder of the pictures: the documentation's by default
 * --widths         also takes pictures that are 360 and 2,560 px wide
 * --only A,B       only the pictures with these names
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { consoleApp } from "@weft/tooling/programs"
import type { Browser, Page } from "playwright-core"
import { openBrowser, openPage, signIn } from "../test/console/Browser.ts"
import {
  deployShop,
  makeActivity,
  newestRun,
  shipOrder,
  startFollowed,
  storeData,
  uploadShopWithout
} from "../test/console/Shop.ts"
import { adminToken, apiKey, type ServerProcess, startServer } from "../test/ServerProcess.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { widths: { type: "boolean", default: false }, only: { type: "string" } }
})
const folder = positionals[0] ?? fileURLToPath(new URL("../../../docs/pictures/console", import.meta.url))
const only = values.only?.split(",")

interface Shot {
  readonly name: string
  readonly path: string
  /** Text that shows that the page is complete. */
  readonly ready: string | RegExp
  /** Brings the page into the state of the picture. */
  readonly prepare?: (page: Page) => Promise<void>
}

const idOf = (answer: unknown, name: string): string =>
  JSON.stringify(answer).match(new RegExp(`"${name}":"([^"]+)"`))?.[1] ?? ""

const shotsOf = async (server: ServerProcess): Promise<ReadonlyArray<Shot>> => {
  const failedId = await newestRun(server, "/v1/runs?status=failed")
  const durableId = await newestRun(server, "/v1/runs?waiting=any")
  const undeployed = await uploadShopWithout(server, "nightly")
  const projectId = idOf(await server.call("GET", "/v1/projects/shop"), "project_id")
  const streamId = idOf(
    await server.call("POST", "/v1/events", { event_type: "cart:opened", event_data: { cart: 7 } }),
    "stream_id"
  )
  const running = await startFollowed(server, 60)
  const shipped = await shipOrder(server)
  const alertId = await createAlerts(server)
  await startCanary(server, undeployed)
  return [
    { name: "overview", path: "/", ready: "Usage of the plan" },
    { name: "runs", path: "/runs", ready: "in total" },
    { name: "run-failed", path: `/runs/${failedId}`, ready: "RangeError" },
    { name: "run-durable", path: `/runs/${durableId}`, ready: "create account" },
    { name: "run-lineage", path: `/runs/${shipped}`, ready: "parcels/mail", prepare: scrollTo("Causes and effects") },
    {
      name: "operations",
      path: "/operations",
      ready: "An operation cancels",
      prepare: (page) => replayRuns(page, server)
    },
    { name: "alerts", path: "/alerts", ready: "orders fail" },
    { name: "alert", path: `/alerts/${alertId}`, ready: "Created" },
    { name: "alert-create", path: "/alerts", ready: "orders fail", prepare: askForAlert },
    { name: "waiting", path: "/waiting", ready: "wait a day" },
    { name: "webhooks", path: "/webhooks?endpoint=GET%20%2Fshop%2Fstatus", ready: "Recent calls" },
    { name: "projects", path: "/projects", ready: "shop" },
    { name: "project", path: `/projects/${projectId}?build=${undeployed}`, ready: "Removed" },
    { name: "editor", path: "/editor?project=greetings", ready: "svc.log.info", prepare: runGreeting },
    { name: "secrets", path: "/secrets?project=shop", ready: "PAYMENT_KEY" },
    { name: "files", path: "/files", ready: "invoices/2026-04.pdf" },
    { name: "domains", path: "/domains", ready: "No domain yet" },
    { name: "audit", path: "/audit", ready: "build.deploy" },
    { name: "events", path: "/events", ready: "in total" },
    { name: "functions", path: "/functions", ready: "orders/confirm" },
    { name: "schedules", path: "/schedules", ready: "0 3 * * *" },
    { name: "access", path: "/access", ready: "This session" },
    { name: "access-rights", path: "/access", ready: "This session", prepare: showRights },
    { name: "replay-all", path: "/runs?status=failed", ready: "in total", prepare: askToReplay },
    { name: "streams", path: "/streams", ready: "Newest event" },
    {
      name: "stream",
      path: `/streams/${streamId}`,
      ready: "Messages appear here",
      prepare: (page) => fillStream(page, server)
    },
    { name: "operator", path: "/operator", ready: "Admin token", prepare: unlock("Runs this month") },
    { name: "operator-node", path: "/operator/node", ready: "Admin token", prepare: unlock("weft_deliveries_running") },
    { name: "operator-plans", path: "/operator/plans", ready: "Admin token", prepare: unlock("Runs per month") },
    {
      name: "operator-quarantine",
      path: "/operator/quarantine",
      ready: "Admin token",
      prepare: unlock("No build was quarantined")
    },
    { name: "run-live", path: `/runs/${running}`, ready: "step 3" },
    {
      name: "deliveries",
      path: "/waiting/deliveries",
      ready: "Pending deliveries",
      prepare: (page) => pauseCharges(page, server)
    },
    { name: "pauses", path: "/waiting/pauses", ready: "shop:orders/charge" }
  ]
}

/** Creates rules, and a service key with some rights. Returns the id of a rule that fires. */
const createAlerts = async (server: ServerProcess): Promise<string> => {
  const actions = [{ type: "event" }]
  const create = (rule: object) => server.call("POST", "/v1/alerts", { actions, ...rule })
  await create({ name: "nightly is silent", project: "shop", condition: { type: "silence", minutes: 1440 } })
  await create({ name: "deliveries queue up", condition: { type: "backlog", deliveries: 1000, oldest_seconds: 60 } })
  const counted = { min_runs: 5, window_minutes: 60 }
  await create({
    ...{ name: "confirmations are slow", project: "shop", fn: "orders/confirm", for_minutes: 5 },
    condition: { type: "latency", of: "duration", percentile: 95, over_ms: 2000, ...counted }
  })
  const created = await create({
    ...{ name: "orders fail", project: "shop", fn: "orders/charge" },
    condition: { type: "failure_share", share: 0.1, ...counted }
  })
  const permissions = {
    "run:*": ["read"],
    "event:*": ["create", "read"],
    "file:invoices/*": ["read"],
    "build:shop": ["read"]
  }
  await server.call("POST", "/v1/service-keys", { name: "reports", permissions })
  const id = idOf(created, "alert_id")
  if (only?.every((name) => !name.startsWith("alert"))) return id
  // Nodes evaluate a rule once a minute, from counts that are at most 10 s old.
  for (let second = 0; second < 150; second++) {
    if (idOf(await server.call("GET", `/v1/alerts/${id}`), "state") === "firing") break
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  return id
}

const startCanary = async (server: ServerProcess, buildId: string): Promise<void> => {
  const canary = { share: 0.3, window: "1h", max_failure_share_over_base: 0.25, max_latency_ratio: 3, promote: "auto" }
  await server.call("POST", `/v1/projects/shop/builds/${buildId}/deploy`, { canary, replace: true })
  await makeActivity(server, 80)
}

/** Starts a replay that lasts for the picture. */
const replayRuns = async (page: Page, server: ServerProcess): Promise<void> => {
  const create = (input: object) => server.call("POST", "/v1/operations", { kind: "replay", ...input })
  await create({
    filter: { status: "failed", fn: "orders/charge", time_range: "PT1H" },
    options: { build: "deployed" }
  })
  await page.waitForTimeout(1500)
  const slow = await create({ filter: { status: "succeeded", project: "shop" }, options: { build: "same", rate: 12 } })
  await page.reload()
  await page.getByText(/runs per second/).waitFor()
  await page.waitForTimeout(4000)
  // Otherwise it would change the pictures of other pages.
  stops.push(() => server.call("POST", `/v1/operations/${idOf(slow, "operation_id")}/cancel`))
}

/** Run after each picture. */
const stops: Array<() => Promise<unknown>> = []

const scrollTo =
  (heading: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("heading", { name: heading }).waitFor()
    await page.evaluate("document.querySelector('main').scrollTo(0, 100000)")
  }

const askForAlert = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Create a rule" }).click()
  await page.getByLabel("Name").fill("orders fail")
  await page.getByLabel("Project", { exact: true }).fill("shop")
  await page.getByLabel("Function, as ns/var").fill("orders/charge")
}

const showRights = async (page: Page): Promise<void> => {
  await page
    .getByRole("row", { name: /^reports/ })
    .getByRole("button", { name: "Rights" })
    .click()
  await scrollTo("Effective rights")(page)
}

/** Pauses a function, so that its deliveries wait. */
const pauseCharges = async (page: Page, server: ServerProcess): Promise<void> => {
  await server.call("POST", "/v1/pauses", { fn: "shop:orders/charge" })
  for (let order = 1; order <= 3; order++) {
    await server.call("POST", "/v1/events", { event_type: "order:paid", event_data: { order, total: 30 * order } })
  }
  await page.reload()
  await page.getByText("the end of a pause").first().waitFor()
}

/** Runs the source of a new project. */
const runGreeting = async (page: Page): Promise<void> => {
  await page.getByRole("option", { name: "main/greet" }).waitFor({ state: "attached" })
  await page.locator(".actions button").filter({ hasText: "Run" }).click()
  await page.getByText('"Hello, Ada"').waitFor()
}

const askToReplay = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Replay all" }).click()
  await page.getByText(/runs match/).waitFor()
}

/** Publishes events to the stream that the page shows. */
const fillStream = async (page: Page, server: ServerProcess): Promise<void> => {
  const stream_id = page.url().split("/").at(-1)
  // The page subscribes after it is shown.
  await page.waitForTimeout(1000)
  for (const order of [1201, 1202, 1203]) {
    const event_data = { order, total: order - 900, customer: { id: 4, country: "DE" } }
    await server.call("POST", "/v1/events", { event_type: "order:created", event_data, stream_id })
  }
  await page.getByText("run:stop").nth(2).waitFor()
  await page.locator(".messages summary").first().click()
}

const unlock =
  (ready: string) =>
  async (page: Page): Promise<void> => {
    await page.getByLabel("Admin token").fill(adminToken)
    await page.getByRole("button", { name: "Unlock" }).click()
    await page.getByText(ready).first().waitFor()
  }

/** Creates organizations of customers. */
const createOrgs = async (server: ServerProcess): Promise<void> => {
  for (const [slug, name, plan] of [
    ["globex", "Globex", "Pro"],
    ["umbrella", "Umbrella", "Free"]
  ]) {
    await server.call("POST", "/admin/orgs", { slug, name, plan })
    for (const env of ["staging", "production"]) await server.call("POST", `/admin/orgs/${slug}/envs`, { name: env })
  }
}

const take = async (
  page: Page,
  server: ServerProcess,
  { name, path, ready, prepare }: Shot,
  variant: string
): Promise<void> => {
  await page.goto(`${server.url}/console${path}`)
  await page.getByText(ready).first().waitFor()
  await prepare?.(page)
  await page.waitForTimeout(400)
  await page.screenshot({ path: join(folder, `${name}-${variant}.png`) })
  for (const stop of stops.splice(0)) await stop()
}

const takeAll = async (browser: Browser, server: ServerProcess): Promise<void> => {
  const shots = (await shotsOf(server)).filter(({ name }) => only?.includes(name) ?? true)
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await openPage(browser, `${server.url}/console`, { colorScheme, width: 1360, height: 860 })
    if (only === undefined) await page.screenshot({ path: join(folder, `sign-in-${colorScheme}.png`) })
    await signIn(page, apiKey)
    await page.getByText("Runs per minute").waitFor()
    for (const shot of shots) await take(page, server, shot, colorScheme)
    await page.context().close()
  }
  for (const width of values.widths ? [360, 2560] : []) {
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
  await createOrgs(server)
  await takeAll(browser, server)
} finally {
  await browser.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
