import type { Browser, FrameLocator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { openBrowser, signedInState, violationsOn } from "./console/Browser.ts"
import { type ConsoleServer, startConsoleServer } from "./console/ConsoleServer.ts"
import { type HostPage, startHostPage } from "./console/HostPage.ts"
import { deployShop, makeActivity, newestRun } from "./console/Shop.ts"
import { apiKey, type ServerProcess } from "./ServerProcess.ts"

/** Permissions of the customer: to read only. */
const permissions = {
  "run:*": ["read"],
  "event:*": ["read"],
  "stream:*": ["read"],
  "env:*": ["read"],
  "build:*": ["read"]
}

let host: HostPage
let server: ServerProcess
let close: ConsoleServer["close"] | undefined
let browser: Browser
let customerKey = ""
let storageState: Awaited<ReturnType<typeof signedInState>>

const field = (answer: unknown, name: string): string =>
  JSON.stringify(answer).match(new RegExp(`"${name}":"([^"]+)"`))?.[1] ?? ""

const asCustomer = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${customerKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return response.status === 204 ? null : response.json()
}

const createSession = async (): Promise<string> =>
  field(await asCustomer("POST", "/v1/sessions", { permissions }), "token")

beforeAll(async () => {
  host = await startHostPage()
  ;({ server, close } = await startConsoleServer({ WEFT_CONSOLE_EMBEDDED_IN: host.origin }))
  browser = await openBrowser()
  storageState = await signedInState(browser, `${server.url}/console`, apiKey)
  await deployShop(server)
  await makeActivity(server, 9)
  const orgId = field(await server.call("POST", "/admin/orgs", { slug: "globex" }), "org_id")
  const envId = field(await server.call("POST", `/admin/orgs/${orgId}/envs`, { name: "prod" }), "env_id")
  customerKey = field(await server.call("POST", `/admin/envs/${envId}/api-keys`, {}), "token")
  await asCustomer("POST", "/v1/events", { event_type: "globex:event", event_data: {} })
  host.show(`${server.url}/console/events`, createSession)
})
afterAll(async () => {
  await browser?.close()
  await close?.()
  host?.close()
})

let page: Page
let frame: FrameLocator
let faults: Array<string>
beforeEach(async () => {
  // The cookies of another environment's console are in the same browser. Their host name is that of the host's page.
  const context = await browser.newContext({ storageState, timezoneId: "UTC" })
  page = await context.newPage()
  frame = page.frameLocator("iframe")
  faults = []
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()))
  page.on("pageerror", (error) => faults.push(String(error)))
})
afterEach(() => page.context().close())

describe("a console in a host's page", () => {
  it("shows one customer's data under the host's name, in its colour and language", async () => {
    await page.goto(host.origin)
    await frame.getByText("globex:event").waitFor()
    await frame.getByText("Acme Automations").last().waitFor()
    await frame.getByText("globex / prod").last().waitFor()
    expect(await frame.getByText("order:created").count()).toBe(0)
    expect(await frame.getByRole("link", { name: "Ereignisse" }).count()).toBe(1)
    expect(await frame.getByRole("link", { name: "Zugang" }).count()).toBe(0)
    const content = page.frames().find((one) => one.url().startsWith(server.url))
    expect(content && (await violationsOn(content))).toStrictEqual([])
    expect(faults).toStrictEqual([])
  })

  it("cannot open the data of another customer by its id", async () => {
    const foreign = await newestRun(server, "/v1/runs?status=failed")
    host.show(`${server.url}/console/runs/${foreign}`, createSession)
    await page.goto(host.origin)
    await frame.getByRole("alert").waitFor()
    expect(await frame.getByText("Card declined").count()).toBe(0)
    host.show(`${server.url}/console/events`, createSession)
  })

  it("continues with another session when the host's has ended", async () => {
    await page.goto(host.origin)
    await frame.getByText("globex:event").waitFor()
    await asCustomer("DELETE", "/v1/sessions")
    await frame.getByRole("link", { name: "Läufe" }).click()
    await frame.getByText("Noch kein Lauf").waitFor()
    expect(await page.evaluate("globalThis.sessions")).toBe(2)
  })

  it("is not shown in pages of other origins", async () => {
    await page.goto(`http://localhost:${host.port}`)
    await expect.poll(() => faults.join(), { timeout: 20_000 }).toContain("frame-ancestors")
    expect(await frame.getByText("globex:event").count()).toBe(0)
  })
})
