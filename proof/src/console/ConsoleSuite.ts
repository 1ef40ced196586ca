/** Measures the console in a browser, with many stored runs: first paint, reactions to a person, and requests. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Contender, OpenSuite, Suite } from "@weft/bench/suites"
import type { Page } from "playwright-core"
import { fillSqlite } from "../growth/SqliteHistory.ts"
import { makeEnvId } from "../scale/Fill.ts"
import { type ConsoleProcess, startConsole } from "./ConsoleProcess.ts"

interface Form {
  readonly name: string
  readonly runs: number
}

const empty: Form = { name: "1000 runs", runs: 1_000 }
const million: Form = { name: "1M runs", runs: 1_000_000 }

const weeks = 10

/** Time in which requests of an open overview are counted while events arrive, in milliseconds. */
const openMs = 60_000
const shortOpenMs = 3_000

const eventsPerSecond = 10

export const consoleSuite: Suite = {
  name: "console",
  measures: "the console in Chromium: from a navigation or an input until the browser has painted",
  isExtra: true,
  open: async ({ isShort }) => openForms(isShort ? [empty] : [empty, million], isShort ? shortOpenMs : openMs)
}

const openForms = async (forms: ReadonlyArray<Form>, watchedMs: number): Promise<OpenSuite> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-console-"))
  const running: Array<ConsoleProcess> = []
  const begin = async ({ runs }: Form): Promise<ConsoleProcess> => {
    const own = mkdtempSync(join(dir, "weft-"))
    await fillSqlite(join(own, "weft.db"), { runs, envs: 1, deliveries: 0, weeks, now: Date.now() }, () => undefined)
    const started = await startConsole(own, makeEnvId(1))
    running.push(started)
    return started
  }
  const contenders = forms.map((form): Contender => {
    let begun: Promise<ConsoleProcess> | undefined
    return {
      name: form.name,
      ...(form === empty ? { isLimit: true } : {}),
      measure: async () => {
        begun ??= begin(form)
        return measure(await begun, watchedMs)
      }
    }
  })
  return {
    contenders,
    settings: { "stored runs": `spread over the last ${weeks} weeks, in one environment, on SQLite` },
    close: async () => {
      await Promise.all(running.map((each) => each.close()))
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

const measure = async (server: ConsoleProcess, watchedMs: number): Promise<Record<string, number>> => {
  const context = await server.context()
  const page = await context.newPage()
  await page.addInitScript(observeInputs)
  try {
    const overview = await paint(page, `${server.url}/console`, ".recent-row")
    const runs = await paint(page, `${server.url}/console/runs`, ".vtable-row .row-link")
    await interact(page)
    const inputs = await page.evaluate<ReadonlyArray<number>>("globalThis.inputs")
    const requests = await countRequests(page, server, watchedMs)
    return {
      "overview, first contentful paint: ms": overview.first,
      "overview, its rows are visible: ms": overview.complete,
      "runs, first contentful paint: ms": runs.first,
      "runs, the first rows are visible: ms": runs.complete,
      "slowest reaction to an input: ms": Math.max(0, ...inputs),
      [`requests of an open overview in ${watchedMs / 1000} s, with ${eventsPerSecond} events in each`]: requests
    }
  } finally {
    await context.close()
  }
}

/** Records the times from inputs to the next paint. */
const observeInputs = `
globalThis.inputs = []
new PerformanceObserver((list) => {
  for (const { duration, interactionId } of list.getEntries()) if (interactionId > 0) globalThis.inputs.push(duration)
}).observe({ type: "event", durationThreshold: 16, buffered: true })
`

/** Opens a page. Returns the times of its first paint, and of the first element that shows data. */
const paint = async (page: Page, url: string, data: string) => {
  const began = performance.now()
  await page.goto(url)
  await page.locator(data).first().waitFor()
  const complete = performance.now() - began
  const first = await page.evaluate<number>(
    `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN`
  )
  return { first, complete }
}

/** Filters and scrolls the table of runs, opens the palette and a run. */
const interact = async (page: Page): Promise<void> => {
  await page.getByLabel("Status").selectOption("failed")
  await page.getByLabel("Started by").selectOption("event")
  await page.locator(".vtable-scroll").hover()
  await page.mouse.wheel(0, 20_000)
  await page.locator(".vtable-row .row-link").first().click()
  await page.getByText("Timeline").first().waitFor()
  await page.keyboard.press("Control+k")
  await page.keyboard.type("even", { delay: 30 })
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor()
}

const countRequests = async (page: Page, server: ConsoleProcess, watchedMs: number): Promise<number> => {
  await page.goto(`${server.url}/console`)
  await page.locator(".recent-row").first().waitFor()
  let count = 0
  page.on("request", () => count++)
  const end = performance.now() + watchedMs
  while (performance.now() < end) {
    await server.publish()
    await new Promise((resolve) => setTimeout(resolve, 1000 / eventsPerSecond))
  }
  return count
}
