import type { Browser, Page } from "playwright-core"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { openPage, signIn, violationsOn } from "./console/Browser.ts"
import { deployShop, makeActivity, startFollowed } from "./console/Shop.ts"
import { consoleSuite } from "./console/Suite.ts"
import { adminToken, apiKey, type ServerProcess } from "./ServerProcess.ts"

const suite = consoleSuite({
  prepare: async (started) => {
    await deployShop(started)
    await makeActivity(started, 20)
  },
  shown: (opened) => opened.getByRole("heading", { name: "Overview" }).waitFor()
})

let server: ServerProcess
let browser: Browser
let page: Page
beforeAll(() => {
  ;({ server, browser } = suite)
})
beforeEach(() => {
  ;({ page } = suite.watched)
})

const open = (path: string) => page.goto(`${server.url}/console${path}`)

describe("signing in", () => {
  it("stores no token in the page, and ends with the session", async () => {
    const { page: other, faults } = await openPage(browser, `${server.url}/console`)
    await signIn(other, apiKey)
    await other.getByRole("heading", { name: "Overview" }).waitFor()
    const stored = await other.evaluate("JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])")
    expect(stored).not.toContain(apiKey)
    expect(stored).not.toContain("weft_console")
    await other.getByRole("button", { name: "Account" }).click()
    await other.getByRole("menuitem", { name: "Sign out" }).click()
    await other.getByRole("heading", { name: "Sign in" }).waitFor()
    await other.reload()
    await other.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(faults).toStrictEqual([])
    await other.context().close()
  })

  it("lets an operator choose an environment", async () => {
    const { page: other, faults } = await openPage(browser, `${server.url}/console/runs`)
    await signIn(other, adminToken)
    await other.getByRole("button", { name: "default / production" }).click()
    await other.getByRole("heading", { name: "Runs" }).waitFor()
    expect(faults).toStrictEqual([])
    await other.context().close()
  })

  it("shows the reason for a refusal", async () => {
    const { page: other } = await openPage(browser, `${server.url}/console`)
    await signIn(other, `${apiKey}x`)
    await other.getByRole("alert").waitFor()
    expect(await violationsOn(other)).toStrictEqual([])
    await other.context().close()
  })
})

describe("accessibility", () => {
  const pages = [
    ["/", "Usage of the plan"],
    ["/runs", "in total"],
    ["/events", "in total"],
    ["/streams", "customer:created"],
    ["/functions", "orders/confirm"],
    ["/schedules", "0 3 * * *"],
    ["/webhooks?endpoint=GET%20%2Fshop%2Fstatus", "Send a request"],
    ["/waiting", "wait a day"],
    ["/waiting/deliveries", "a sleep"],
    ["/waiting/pauses", "Nothing is paused"],
    ["/projects", "shop"],
    ["/editor?project=shop", "order:created"],
    ["/secrets", "No secret yet"],
    ["/files", "No file"],
    ["/domains", "No domain yet"],
    ["/audit", "build.deploy"],
    ["/access", "This session"],
    ["/nowhere", "does not exist"]
  ] as const

  for (const [path, text] of pages) {
    it(`has no violation of WCAG 2.2 AA on ${path}, in both colour schemes`, async () => {
      await open(path)
      await page.getByText(text).first().waitFor()
      expect(await violationsOn(page)).toStrictEqual([])
      await page.emulateMedia({ colorScheme: "dark" })
      expect(await violationsOn(page)).toStrictEqual([])
    })
  }

  it("has none on the page of a run and of its event", async () => {
    await open("/runs?status=failed")
    await page.getByRole("link", { name: "orders/charge" }).first().click()
    await page.getByText("RangeError").first().waitFor()
    const lineage = page.getByRole("region", { name: "Causes and effects" })
    await lineage.getByText("Attempt 2").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await lineage.getByRole("link", { name: "order:paid" }).click()
    await page.getByRole("heading", { name: "Runs of this event" }).waitFor()
    await page.locator(".handler-row").getByText("orders/charge").waitFor()
    await page.getByText(/other handlers expect other types/).click()
    await page.getByText("Expects customer:created").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
  })
})

describe("runs", () => {
  it("follows a run from its start to its end without a reload", async () => {
    const runId = await startFollowed(server, 8)
    await open(`/runs/${runId}`)
    await page.getByText("Following").waitFor()
    await page.getByText("step 2", { exact: true }).waitFor()
    await page.locator("h1 + .badge").getByText("Succeeded").waitFor()
    await page.getByText("step 8", { exact: true }).waitFor()
    await page.getByText('"followed"').waitFor()
  })

  it("cancels a run after a confirmation", async () => {
    const runId = await startFollowed(server, 60)
    await open(`/runs/${runId}`)
    await page.getByRole("button", { name: "Cancel", exact: true }).click()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("dialog").getByRole("button", { name: "Cancel this run" }).click()
    await page.locator("h1 + .badge").getByText("Cancelled").waitFor()
  })

  it("replays a failed run as a new one", async () => {
    await open("/runs?status=failed")
    await page.getByRole("link", { name: "orders/charge" }).first().click()
    const before = page.url()
    await page.getByRole("button", { name: "Replay", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click()
    await page.getByText("The new run is queued").waitFor()
    await page.waitForURL((url) => url.href !== before)
  })

  it("stores filters in the URL, and opens the command of a run for other programs", async () => {
    await open("/runs")
    await page.getByLabel("Status").selectOption("failed")
    await page.waitForURL(/status=failed/)
    await page.getByRole("link", { name: "orders/charge" }).first().click()
    await page.getByRole("button", { name: "Copy as" }).click()
    await page.getByRole("menuitem", { name: "Command line" }).click()
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^weft runs show [0-9a-f-]{36}$/)
  })
})

describe("all runs of a filter", () => {
  it("shows and names the dialog before they are counted", async () => {
    await open("/runs?status=failed")
    await page.getByRole("link", { name: "orders/charge" }).first().waitFor()
    let count = () => {}
    const counted = new Promise<void>((resolve) => {
      count = resolve
    })
    await page.route(
      ({ pathname }) => pathname === "/console/api/v1/operations",
      async (route) => {
        await counted
        await route.continue()
      }
    )
    await page.getByRole("button", { name: "Replay all" }).click()
    await page.getByRole("dialog", { name: "Replay the runs" }).getByText("Loading …").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    count()
    await page
      .getByRole("dialog")
      .getByText(/^\d+ runs match/)
      .waitFor()
  })

  it("are replayed by an operation, after a confirmation that counts them", async () => {
    await open("/runs?status=failed")
    await page.getByRole("button", { name: "Replay all" }).click()
    const dialog = page.getByRole("dialog")
    const text = (await dialog.getByText(/^\d+ runs match/).textContent()) ?? ""
    const matching = Number.parseInt(text, 10)
    expect(matching).toBeGreaterThan(0)
    await dialog.getByLabel("Maximum runs per second").fill("500")
    await dialog.getByText("weft runs replay --all-matching --status failed --build deployed --rate 500").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Replay the runs" }).click()
    const operation = page.getByRole("listitem").filter({ hasText: "at most 500 per second" })
    await operation.getByText("Succeeded").waitFor()
    await operation.getByText(`${matching} of ${matching} runs`).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
  })

  it("are cancelled by an operation, after a confirmation that counts the running ones", async () => {
    const runId = await startFollowed(server, 60)
    await open("/runs?type=event&period=1h")
    await page.getByRole("button", { name: "Cancel running" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText(/running runs? match/).waitFor()
    await dialog.getByText("weft runs cancel --all-matching --type event --since 1h").waitFor()
    await dialog.getByRole("button", { name: "Cancel the runs" }).click()
    await page.getByRole("heading", { name: "Operations" }).waitFor()
    await expect
      .poll(async () => JSON.stringify(await server.call("GET", `/v1/runs/${runId}`)))
      .toContain('"status":"cancelled"')
  })

  it("leaves ended runs alone, so that a filter for them cancels nothing", async () => {
    await open("/runs?status=failed")
    await page.getByRole("button", { name: "Cancel running" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("No running run matches.").waitFor()
    expect(await dialog.getByRole("button", { name: "Cancel the runs" }).isDisabled()).toBe(true)
  })
})

describe("schedules", () => {
  it("show their ticks of the next seven days as a calendar", async () => {
    await open("/schedules")
    const days = page.locator(".calendar .day")
    await days.first().waitFor()
    expect(await days.count()).toBe(7)
    expect(await page.locator(".calendar .tick").getByText("main/nightly").count()).toBeGreaterThanOrEqual(6)
    expect(await page.locator(".calendar .tick").first().textContent()).toContain("03:00")
    expect(await violationsOn(page)).toStrictEqual([])
  })
})

describe("streams", () => {
  it("shows the messages of a stream as they arrive, from an event that the page publishes", async () => {
    await open("/streams")
    await page.getByRole("link", { name: "order:created" }).first().click()
    await page.getByText("Messages appear here").waitFor()
    await page.locator("main").getByText("Live", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Publish to this stream" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Type").fill("order:created")
    await dialog.getByLabel("Data of an earlier event").selectOption({ index: 1 })
    expect(await dialog.getByLabel("Data, as JSON").inputValue()).toContain('"order"')
    await dialog.getByLabel("Data, as JSON").fill('{"order": 4, "total": 950}')
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Publish", exact: true }).click()
    const row = page.locator(".messages li").filter({ hasText: "run:stop" })
    await row.getByText('"doubled":1900').waitFor()
    await row.locator("summary").click()
    await row.getByRole("link", { name: "Open the run" }).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
  })
})

describe("the overview", () => {
  it("counts a new run without a reload, and the functions of a day", async () => {
    const total = page.getByRole("list", { name: "Runs per minute" }).getByRole("listitem")
    await total.first().waitFor()
    const before = await page.locator(".recent-row .row-link").first().getAttribute("href")
    await server.call("POST", "/v1/events", { event_type: "order:created", event_data: { order: 1, total: 1 } })
    await expect
      .poll(() => page.locator(".recent-row .row-link").first().getAttribute("href"), { timeout: 20_000 })
      .not.toBe(before)
    // Counts of all functions over a day are a click away, with links to the runs.
    await page.getByLabel("Period").selectOption("Last 24 hours")
    await page.getByRole("heading", { name: "Runs per 30 min" }).waitFor()
    await page.getByRole("row").getByRole("link", { name: "orders/charge" }).click()
    await page.waitForURL(/fn=orders%2Fcharge.*period=24h/)
  })
})

describe("an open overview", () => {
  it("requests data at most once in two seconds, however many events arrive", async () => {
    await page.clock.install()
    await page.reload()
    await page.locator(".recent-row").first().waitFor()
    let requests = 0
    page.on("request", (request) => {
      if (request.url().includes("/console/api/")) requests++
    })
    const now = () => page.evaluate<number>("Date.now()")
    const began = await now()
    for (let second = 0; second < 60; second++) {
      await server.call("POST", "/v1/events", { event_type: "order:created", event_data: { order: second, total: 1 } })
      await page.clock.runFor(1000)
    }
    const seconds = ((await now()) - began) / 1000
    expect(seconds).toBeGreaterThanOrEqual(60)
    expect(requests).toBeGreaterThan(3)
    expect(requests).toBeLessThanOrEqual(seconds / 2)
  })
})

describe("events and keys", () => {
  it("publishes an event with the keyboard only", async () => {
    await open("/events")
    await page.getByRole("button", { name: "Publish an event" }).press("Enter")
    await page.getByLabel("Type").fill("order:created")
    await page.getByLabel("Data, as JSON").fill('{"order": 5, "total": 12}')
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("button", { name: "Publish", exact: true }).press("Enter")
    await page.getByRole("heading", { name: "order:created" }).waitFor()
    await page.locator(".recent-row").first().waitFor()
  })

  it("creates a service key from presets, shows its token once, and revokes it", async () => {
    await open("/access")
    await page.getByRole("button", { name: "Create a service key" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("reader")
    await dialog.getByLabel("Read only").check()
    await dialog.getByRole("button", { name: "Create a service key" }).click()
    const token = await page.locator("code.token").textContent()
    const answer = await fetch(`${server.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(200)
    await page.getByRole("button", { name: "Done" }).click()
    await page
      .getByRole("row", { name: /reader/ })
      .getByRole("button", { name: "Rights" })
      .click()
    const runs = page.getByRole("row", { name: /^run runs, logs/ })
    expect(await runs.getByRole("cell").allTextContents()).toStrictEqual([
      ...["Does not exist", "On all", "Does not exist", "Does not exist", "Does not exist"]
    ])
    await page
      .getByRole("row", { name: /reader/ })
      .getByRole("button", { name: "Revoke" })
      .click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
    await page.getByText("Revoked").waitFor()
  })

  it("opens pages and runs with the command palette", async () => {
    await page.keyboard.press("Control+k")
    await page.keyboard.type("func")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Functions", level: 1 }).waitFor()
    await page.keyboard.press("Control+k")
    expect(await violationsOn(page)).toStrictEqual([])
  })
})

describe("language, width and other origins", () => {
  it("speaks German in a German browser, at 360 px without horizontal scrolling", async () => {
    const { page: other, faults } = await openPage(browser, `${server.url}/console`, { locale: "de-DE", width: 360 })
    await signIn(other, apiKey)
    await other.getByRole("heading", { name: "Übersicht" }).waitFor()
    for (const [path, heading] of [
      ["/", "Übersicht"],
      ["/runs", "Läufe"],
      ["/access", "Zugang"],
      ["/alerts", "Alarme"]
    ] as const) {
      await other.goto(`${server.url}/console${path}`)
      await other.getByRole("heading", { name: heading, exact: true }).waitFor()
      expect(await other.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), path).toBe(true)
      expect(await violationsOn(other), path).toStrictEqual([])
    }
    expect(faults).toStrictEqual([])
    await other.context().close()
  })

  it("isolates pages of tenants on the same host from the session", async () => {
    await page.goto(`${server.url}/webhook/default/production/shop/page`)
    const status = await page.evaluate(
      `fetch("/console/api/v1/env", { headers: { "x-weft-console": "1" } }).then(({ status }) => status, () => "blocked")`
    )
    expect(status).toBe("blocked")
    suite.watched.faults.length = 0
  })
})
