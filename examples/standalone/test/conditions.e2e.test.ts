/** Concurrency limits and delays on the real server, across a kill and a restart. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-conditions-"))

const source = `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const on = (meta, fn) => Object.assign(fn, { meta })

export const three = on({ event: "three", concurrency: { limit: 3 } }, (event) => wait(event.event_data.ms))
export const each = on({ event: "each", concurrency: { limit: 1, key: "customer.id" } }, (event) => wait(event.event_data.ms))
export const all = on({ event: "order:*" }, (event) => event.event_type)
`

let server: ServerProcess
beforeAll(async () => {
  server = await startServer(dataDir)
  await server.upload("shop", source)
}, 60_000)
afterAll(async () => {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}, 60_000)

const Run = z.object({
  run_id: z.string(),
  status: z.string(),
  event_id: z.string().nullable(),
  start_time: z.string(),
  stop_time: z.string().nullable(),
  result: z.unknown()
})
type Run = z.infer<typeof Run>

const Event = z.object({ data: z.object({ event_id: z.string(), event_time: z.string(), created_at: z.string() }) })

const publish = async (event_type: string, event_data: unknown, more: object = {}) =>
  Event.parse(await server.call("POST", "/v1/events", { event_type, event_data, ...more })).data

const runsOf = async (eventId: string): Promise<ReadonlyArray<Run>> =>
  z.object({ data: z.array(Run) }).parse(await server.call("GET", `/v1/events/${eventId}/runs`)).data

/** Waits until each event has a succeeded run, and returns all runs. */
const untilSucceeded = async (eventIds: ReadonlyArray<string>): Promise<ReadonlyArray<Run>> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const runs = await Promise.all(eventIds.map(runsOf))
    if (runs.every((of) => of.some((run) => run.status === "succeeded"))) return runs.flat()
    if (performance.now() > deadline) throw new Error(`Not all events have a succeeded run: ${JSON.stringify(runs)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the maximum number of concurrent runs. A run that ends in the millisecond of another's start precedes it. */
const maxConcurrency = (runs: ReadonlyArray<Run>): number => {
  const changes = runs
    .flatMap((run) => [
      { at: Date.parse(run.start_time), by: 1 },
      { at: Date.parse(run.stop_time ?? ""), by: -1 }
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by)
  let now = 0
  let most = 0
  for (const { by } of changes) {
    now += by
    most = Math.max(most, now)
  }
  return most
}

describe("concurrency", () => {
  it("is limited per function and per key under load, and uses the limit fully", async () => {
    const three = await Promise.all(Array.from({ length: 30 }, (_, n) => publish("three", { ms: 10 + (n % 7) * 10 })))
    const each = await Promise.all(
      Array.from({ length: 24 }, (_, n) => publish("each", { ms: 20, customer: { id: n % 4 } }))
    )
    expect(maxConcurrency(await untilSucceeded(three.map((event) => event.event_id)))).toBe(3)
    const runs = await untilSucceeded(each.map((event) => event.event_id))
    for (const customer of [0, 1, 2, 3]) {
      const ids = new Set(each.filter((_, n) => n % 4 === customer).map((event) => event.event_id))
      expect(maxConcurrency(runs.filter((run) => ids.has(run.event_id ?? "")))).toBe(1)
    }
    expect(maxConcurrency(runs)).toBeGreaterThan(1)
  })

  it("is limited after a kill of the server, and all events run", async () => {
    const events = await Promise.all(Array.from({ length: 20 }, () => publish("three", { ms: 100 })))
    await new Promise((resolve) => setTimeout(resolve, 250))
    await server.kill()
    server = await startServer(dataDir)
    const runs = await untilSucceeded(events.map((event) => event.event_id))
    expect(runs.filter((run) => run.status === "succeeded").length).toBe(20)
    expect(maxConcurrency(runs.filter((run) => run.status === "succeeded"))).toBeLessThanOrEqual(3)
    for (const run of runs) {
      if (run.status !== "succeeded") expect(JSON.stringify(run.result)).toContain("NodeLost")
    }
  })
})

describe("delays", () => {
  it("a delayed event survives a restart and runs when it is due", async () => {
    const event = await publish("order:later", null, { delay: "2s" })
    await server.stop()
    server = await startServer(dataDir)
    expect(
      (await runsOf(event.event_id)).filter((run) => Date.parse(run.start_time) < Date.parse(event.event_time))
    ).toEqual([])
    const [run] = await untilSucceeded([event.event_id])
    expect(Date.parse(run?.start_time ?? "")).toBeGreaterThanOrEqual(Date.parse(event.event_time))
  })
})
