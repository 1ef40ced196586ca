import type { Page } from "playwright-core"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { violationsOn } from "./console/Browser.ts"
import { deployShop, makeActivity, uploadShopWithout } from "./console/Shop.ts"
import { consoleSuite } from "./console/Suite.ts"
import type { ServerProcess } from "./ServerProcess.ts"

const suite = consoleSuite({
  prepare: async (started) => {
    await deployShop(started)
    await makeActivity(started, 3)
  },
  shown: (opened) => opened.getByRole("heading", { name: "Overview" }).waitFor()
})

let server: ServerProcess
let page: Page
beforeAll(() => {
  ;({ server } = suite)
})
beforeEach(() => {
  ;({ page } = suite.watched)
})

const open = (path: string) => page.goto(`${server.url}/console${path}`)

describe("webhooks", () => {
  it("sends a request to an endpoint, shows the response, and lists the call", async () => {
    await open("/webhooks")
    await page.getByRole("button", { name: "GET /shop/status" }).click()
    await page.getByLabel("Query").fill("order=17")
    expect(await page.locator(".command code").first().textContent()).toContain("shop/status?order=17")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await page.getByText('"method": "GET"').waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.locator(".recent-row").nth(1).waitFor()
  })

  it("shows a page of a tenant as text", async () => {
    await open("/webhooks?endpoint=GET%20%2Fshop%2Fpage")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await page.getByText("<h1>A page of a tenant</h1>").waitFor()
  })
})

describe("suspended runs and pending deliveries", () => {
  it("are listed with their reasons, and open their runs", async () => {
    await open("/waiting")
    await page.getByRole("link", { name: "wait a day" }).click()
    await page.getByText("create account").waitFor()
  })

  it("are cancelled by a filter of deliveries, after a confirmation with the same command", async () => {
    await open("/waiting/deliveries")
    await page.getByRole("button", { name: "Cancel deliveries" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Event type").fill("order:created")
    await dialog.getByText("weft deliveries cancel --event-type order:created").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Cancel deliveries" }).click()
    await page.getByText("0 deliveries were cancelled").waitFor()
  })
})

describe("dead letters", () => {
  it("are listed with their errors, and redriven and discarded after a confirmation with the same command", async () => {
    await server.call("POST", "/v1/events", { event_type: "order:paid", event_data: { order: 1 } })
    const listed = async () => JSON.stringify(await server.call("GET", "/v1/dead-letters"))
    await expect.poll(listed).toContain("Card declined")
    await open("/waiting/dead-letters")
    await page.getByText("RangeError: Card declined").first().waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("button", { name: "Redrive", exact: true }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Function, as ns/var").fill("orders/none")
    await dialog.getByText("weft dead-letters redrive --function orders/none --build deployed").waitFor()
    await dialog.getByRole("button", { name: "Redrive" }).click()
    await page.getByText("0 dead letters start again").waitFor()
    await page.getByRole("button", { name: "Discard", exact: true }).click()
    await dialog.getByText("weft dead-letters discard --all").waitFor()
    await dialog.getByRole("button", { name: "Discard" }).click()
    await page.getByText("No dead letters", { exact: true }).waitFor()
  })
})

describe("pauses", () => {
  it("keep the deliveries of a function with the reason, until it is resumed", async () => {
    await open("/waiting/pauses")
    await page.getByRole("button", { name: "Pause", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Pause" })
    await dialog.getByLabel("Project", { exact: true }).fill("shop")
    await dialog.getByLabel("Function, as ns/var").fill("orders/confirm")
    await dialog.getByText("weft pause shop:orders/confirm").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Pause" }).click()
    await page.getByRole("cell", { name: "shop:orders/confirm" }).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])

    await server.call("POST", "/v1/events", { event_type: "order:created", event_data: { order: 1, total: 1 } })
    await page.getByRole("link", { name: "Pending deliveries" }).click()
    await page.getByText("the end of a pause").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])

    await page.getByRole("link", { name: "Pauses" }).click()
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByText("weft resume shop:orders/confirm").waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click()
    await page.getByText("Nothing is paused").waitFor()
    await expect.poll(async () => JSON.stringify(await server.call("GET", "/v1/deliveries"))).not.toContain("paused")
    await page.getByRole("link", { name: "Pending deliveries" }).click()
    await page.getByText("a sleep").first().waitFor()
    expect(await page.getByText("the end of a pause").count()).toBe(0)
  })
})

describe("alerts", () => {
  it("are created with a secret that the page shows once, and deleted", async () => {
    await open("/alerts")
    await page.getByText("No rule yet").waitFor()
    await page.getByRole("button", { name: "Create a rule" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("orders are silent")
    await dialog.getByLabel("Observes").selectOption("The whole environment")
    await dialog.getByLabel("Condition").selectOption("Silence")
    await dialog.getByLabel("Webhooks, a URL per line").fill("https://hooks.example.com/weft")
    await dialog.getByText("weft alerts create 'orders are silent' --silence 1440m --webhook").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Create a rule" }).click()
    const secret = (await page.locator("code.token").textContent()) ?? ""
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByText("Created", { exact: true }).waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No rule yet").waitFor()
  })
})

describe("projects and builds", () => {
  it("shows what a deployment changes before it happens, deploys it and rolls back", async () => {
    const buildId = await uploadShopWithout(server, "nightly")
    await open("/projects")
    await page.getByRole("link", { name: "shop" }).click()
    await page.getByRole("button", { name: buildId }).click()
    await page.getByText("Removed").first().waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("button", { name: "Deploy", exact: true }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("0 3 * * *").waitFor()
    await dialog.getByText(`weft rollback ${buildId}`).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Deploy" }).click()
    await page.getByText("The build is deployed").waitFor()
    await page.getByRole("button", { name: "Roll back" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const handlers = await server.call("GET", "/v1/projects/shop/schedules")
    expect(JSON.stringify(handlers)).toContain("0 3 * * *")
  })

  it("gives a build a share as a canary with rules, and rolls it back", async () => {
    const buildId = await uploadShopWithout(server, "hooks")
    await open("/projects")
    await page.getByRole("link", { name: "shop" }).click()
    await page
      .getByRole("row", { name: new RegExp(buildId) })
      .getByRole("button", { name: "Canary" })
      .click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Share in percent").fill("50")
    await dialog.getByLabel("Key").fill("event.data.order")
    await dialog.getByText(/"share":0.5,"key":"event.data.order"/).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Start the canary" }).click()
    const card = page.getByRole("region", { name: "Canary" })
    await card.getByText("gets 50%").waitFor()
    await card.getByText("failures at most 5% above the deployed build").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await card.getByRole("button", { name: "Roll back" }).click()
    await dialog.getByText("weft canary rollback").waitFor()
    await dialog.getByRole("button", { name: "Roll back" }).click()
    await card.getByText("Rolled back", { exact: true }).waitFor()
  })

  it("creates a project and deletes it", async () => {
    await open("/projects")
    await page.getByRole("button", { name: "Create a project" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("temporary")
    await page.getByRole("dialog").getByRole("button", { name: "Create a project" }).click()
    await page.getByRole("heading", { name: "temporary" }).waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("link", { name: "shop" }).waitFor()
    await page.getByRole("link", { name: "temporary" }).waitFor({ state: "detached" })
  })
})

describe("the editor", () => {
  const source = `
export const greet = async (event: { event_data: { name: string } }, svc: any) => {
  svc.log.info("greeting " + event.event_data.name)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  svc.log.info("greeted")
  return { greeting: "Hello, " + event.event_data.name }
}
greet.meta = { event: "person:arrived" }
`

  /** Replaces the text of the editor, as a person who pastes. */
  const write = async (text: string) => {
    const content = page.getByRole("textbox", { name: "Source of the functions" })
    await content.click()
    await page.keyboard.press("Control+a")
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press("Control+v")
  }

  it("runs a new function with a live log, and deploys it, without leaving the page", async () => {
    await open("/editor?project=greetings")
    await write(source)
    await page.getByRole("option", { name: "main/greet" }).waitFor({ state: "attached" })
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByText("greeting Ada").waitFor()
    await page.getByText("Following").waitFor()
    await page.getByText("greeted", { exact: true }).waitFor()
    await page.getByText('"Hello, Ada"').waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    const before = await server.call("GET", "/v1/projects/greetings/event-handlers")
    expect(JSON.stringify(before)).not.toContain("person:arrived")
    await page.getByRole("button", { name: "Deploy" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Deploy" }).click()
    await page.getByText("The source is deployed").waitFor()
    const handlers = await server.call("GET", "/v1/projects/greetings/event-handlers")
    expect(JSON.stringify(handlers)).toContain("person:arrived")
    await open("/editor?project=greetings")
    await page.getByText('svc.log.info("greeted")').waitFor()
  })

  it("runs an endpoint and a schedule with the arguments of their triggers, while triggers keep the deployed build", async () => {
    await server.upload("quiet", 'export const old = () => 1\nold.meta = { event: "quiet:old" }\n')
    await open("/editor?project=quiet")
    await page.getByText("quiet:old").waitFor()
    await write(`
export const hook = async (request) => ({ sent: request.body.name, method: request.method })
hook.meta = { webhook: { service: "quiet", path: "/hook", method: "POST" } }
export const tick = async (tick) => "tick of " + tick.cron
tick.meta = { schedule: "0 5 * * *" }
`)
    await page.getByRole("option", { name: "main/hook" }).waitFor({ state: "attached" })
    await page.locator(".actions select").selectOption("main/hook")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByText('"POST"').waitFor()
    await page.locator(".actions select").selectOption("main/tick")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByText('"tick of 0 5 * * *"').waitFor()
    await page.getByText(/weft run quiet:weftTest\/main_tick .* --build/).waitFor()
    const handlers = await server.call("GET", "/v1/projects/quiet/event-handlers")
    expect(JSON.stringify(handlers)).toContain("quiet:old")
    const schedules = await server.call("GET", "/v1/projects/quiet/schedules")
    expect(JSON.stringify(schedules)).not.toContain("0 5 * * *")
    expect((await fetch(`${server.url}/webhook/default/production/quiet/hook`, { method: "POST" })).status).toBe(404)
  })

  it("completes svc from the types of the SDK", async () => {
    await open("/editor?project=completion")
    await write("export const f = async () => {\n  ")
    await page.keyboard.type("svc.ev")
    await page.getByRole("option", { name: "events" }).waitFor()
    await page.keyboard.type("ents.")
    await page.getByRole("option", { name: /publish/ }).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
  })

  it("reports the line of a syntax error, and imports that it cannot bundle", async () => {
    await open("/editor?project=broken")
    await write("export const f = () => 1\nconst = 2\n")
    await page.getByRole("button", { name: "Deploy" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Deploy" }).click()
    await dialog.getByRole("alert").getByText("(2:7)").waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await write('import { z } from "zod"\nexport const f = () => z\n')
    await page.getByRole("button", { name: "Deploy" }).click()
    await dialog.getByRole("button", { name: "Deploy" }).click()
    await dialog.getByRole("alert").getByText("import of zod").waitFor()
  })
})

describe("secrets and files", () => {
  it("stores a secret whose value the page never shows again, and completes its name", async () => {
    await open("/secrets?project=shop")
    await page.getByRole("button", { name: "Set a secret" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Key").fill("GITHUB_TOKEN")
    await dialog.getByLabel("Value").fill("hidden-value")
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Set a secret" }).click()
    await page.getByRole("cell", { name: "GITHUB_TOKEN" }).waitFor()
    expect(await page.content()).not.toContain("hidden-value")
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("No secret yet").waitFor()
  })

  it("uploads, links and deletes a file", async () => {
    await open("/files")
    await page.getByRole("button", { name: "Upload a file" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("File").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("hi") })
    await dialog.getByLabel("Path").fill("notes/a.txt")
    await dialog.getByRole("button", { name: "Upload a file" }).click()
    await page.getByText("notes/a.txt").first().waitFor()
    await dialog.waitFor({ state: "hidden" })
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("button", { name: "Copy a link: notes/a.txt" }).click()
    await page.getByText("valid for one hour").waitFor()
    const link = String(await page.evaluate("navigator.clipboard.readText()"))
    expect(await (await fetch(link)).text()).toBe("hi")
    await page.getByRole("button", { name: "Delete: notes/a.txt" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("No file", { exact: true }).waitFor()
  })
})
