import type { Browser, Page } from "playwright-core"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { openPage, signIn, violationsOn } from "./console/Browser.ts"
import { consoleSuite } from "./console/Suite.ts"
import { adminToken, type ServerProcess } from "./ServerProcess.ts"

const suite = consoleSuite({
  path: "/operator",
  shown: (opened) => opened.getByLabel("Admin token").waitFor()
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

const unlock = async (token: string) => {
  await page.getByLabel("Admin token").fill(token)
  await page.getByRole("button", { name: "Unlock" }).click()
}

describe("the pages of the operator", () => {
  it("need the admin token, which they keep in memory only", async () => {
    expect(await violationsOn(page)).toStrictEqual([])
    await unlock(`${adminToken}x`)
    await page.getByRole("alert").getByText("rejects this token").waitFor()
    await unlock(adminToken)
    await page.getByRole("heading", { name: "Organizations", level: 1 }).waitFor()
    const stored = await page.evaluate("JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])")
    expect(stored).not.toContain(adminToken)
    await page.reload()
    await page.getByLabel("Admin token").waitFor()
  })

  it("are open after a sign-in with the admin token, until the page is locked", async () => {
    const { page: other, faults } = await openPage(browser, `${server.url}/console`)
    await signIn(other, adminToken)
    await other.getByRole("button", { name: "default / production" }).click()
    await other.getByRole("link", { name: "Operator" }).click()
    await other.getByRole("heading", { name: "Organizations", level: 1 }).waitFor()
    await other.getByRole("button", { name: "Lock" }).click()
    await other.getByLabel("Admin token").waitFor()
    expect(faults).toStrictEqual([])
    await other.context().close()
  })

  it("create an organization and an environment, and change a plan", async () => {
    await unlock(adminToken)
    await page.getByRole("button", { name: "Create an organization" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Slug").fill("umbrella")
    await dialog.getByLabel("Plan").selectOption("Free")
    await dialog.getByText("weft admin orgs create umbrella --plan Free").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Create an organization" }).click()
    const card = page.getByRole("region", { name: "umbrella" })
    await card.getByText("0 of 10,000").waitFor()
    await card.getByRole("button", { name: "Create an environment" }).click()
    await dialog.getByLabel("Name").fill("staging")
    await dialog.getByRole("button", { name: "Create an environment" }).click()
    await card.getByText("staging").waitFor()
    await card.getByRole("button", { name: "Change the plan" }).click()
    await dialog.getByLabel("Plan").selectOption("Pro")
    expect(await violationsOn(page)).toStrictEqual([])
    await dialog.getByRole("button", { name: "Change the plan" }).click()
    await card.getByText("Pro", { exact: true }).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    const orgs = JSON.stringify(await server.call("GET", "/admin/orgs"))
    expect(orgs).toContain('"slug":"umbrella"')
    expect(orgs).toContain('"plan":"Pro"')
  })

  it("show the nodes with queues and metrics, the plans, and the quarantine", async () => {
    await unlock(adminToken)
    await page.getByRole("link", { name: "Nodes", exact: true }).click()
    await page.getByRole("cell", { name: "0 / 4,096" }).waitFor()
    await page.getByText("Pending deliveries").first().waitFor()
    await page.getByText("weft_deliveries_running").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.getByRole("link", { name: "Plans", exact: true }).click()
    await page.getByRole("rowheader", { name: "Runs per month" }).waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
    await page.emulateMedia({ colorScheme: "dark" })
    expect(await violationsOn(page)).toStrictEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    for (const name of ["Plans", "Organizations", "Nodes"]) {
      await page.getByRole("link", { name, exact: true }).click()
      await page.getByRole("heading", { name, level: 1 }).waitFor()
      expect(await page.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), name).toBe(true)
    }
    await page.getByRole("link", { name: "Quarantine", exact: true }).click()
    await page.getByText("No build was quarantined").waitFor()
    expect(await violationsOn(page)).toStrictEqual([])
  })
})
