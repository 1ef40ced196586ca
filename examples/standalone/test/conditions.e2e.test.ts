/** The conditions of functions on the real server: limits, once, later, retries; also when it is killed meanwhile. */
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
export const charge = on({ event: "order:paid", idempotency: "order.id" }, () => "charged")
export const all = on({ event: "order:*" }, (event) => event.event_type)
export const flaky = on(
  { event: "flaky", retry: { attempts: 3, delay: 20, backoff: 2, jitter: false }, concurrency: { limit: 1 } },
  (event, svc) => {
    if (svc.run.attempt < 3) throw new Error("attempt " + svc.run.attempt)
    return svc.run.attempt
  }
)
export const slow = on({ event: "slow", timeout: "200ms" }, () => wait(60_000))
export const remind = on({ event: "remind" }, (event, svc) =>
  svc.events.publish({ type: "order:reminded", data: null, delay: "300ms" }))
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

/** The runs of the events once each of them has one that succeeded. */
const succeeded = async (eventIds: ReadonlyArray<string>): Promise<ReadonlyArray<Run>> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const runs = await Promise.all(eventIds.map(runsOf))
    if (runs.every((of) => of.some((run) => run.status === "succeeded"))) return runs.flat()
    if (performance.now() > deadline) throw new Error(`Not all have run: ${JSON.stringify(runs)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** How many of the runs went on together at most. One that ends in the millisecond in which another begins is before it. */
const together = (runs: ReadonlyArray<Run>): number => {
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
  it("is kept under load, by function and by key, and used to the full", async () => {
    const three = await Promise.all(Array.from({ length: 30 }, (_, n) => publish("three", { ms: 10 + (n % 7) * 10 })))
    const each = await Promise.all(
      Array.from({ length: 24 }, (_, n) => publish("each", { ms: 20, customer: { id: n % 4 } }))
    )
    expect(together(await succeeded(three.map((event) => event.event_id)))).toBe(3)
    const runs = await succeeded(each.map((event) => event.event_id))
    for (const customer of [0, 1, 2, 3]) {
      const ids = new Set(each.filter((_, n) => n % 4 === customer).map((event) => event.event_id))
      expect(together(runs.filter((run) => ids.has(run.event_id ?? "")))).toBe(1)
    }
    expect(together(runs)).toBeGreaterThan(1)
  })

  it("is kept when the server is killed in the middle, and everything runs", async () => {
    const events = await Promise.all(Array.from({ length: 20 }, () => publish("three", { ms: 100 })))
    await new Promise((resolve) => setTimeout(resolve, 250))
    await server.kill()
    server = await startServer(dataDir)
    const runs = await succeeded(events.map((event) => event.event_id))
    expect(runs.filter((run) => run.status === "succeeded").length).toBe(20)
    expect(together(runs.filter((run) => run.status === "succeeded"))).toBeLessThanOrEqual(3)
    for (const run of runs) {
      if (run.status !== "succeeded") expect(JSON.stringify(run.result)).toContain("NodeLost")
    }
  })
})

describe("once and later", () => {
  it("a value is handled once, by the function that says so", async () => {
    const events = await Promise.all(
      Array.from({ length: 6 }, (_, n) => publish("order:paid", { order: { id: n % 2 } }))
    )
    const runs = await succeeded(events.map((event) => event.event_id))
    expect(runs.filter((run) => run.result === "order:paid").length).toBe(6)
    expect(runs.filter((run) => run.result === "charged").length).toBe(2)
  })

  it("an event for later survives a restart, and runs in its time", async () => {
    const event = await publish("order:later", null, { delay: "2s" })
    await server.stop()
    server = await startServer(dataDir)
    expect(
      (await runsOf(event.event_id)).filter((run) => Date.parse(run.start_time) < Date.parse(event.event_time))
    ).toEqual([])
    const [run] = await succeeded([event.event_id])
    expect(Date.parse(run?.start_time ?? "")).toBeGreaterThanOrEqual(Date.parse(event.event_time))
  })

  it("code publishes for later", async () => {
    const event = await publish("remind", null)
    const [run] = await succeeded([event.event_id])
    const reminded = z.object({ event_id: z.string(), event_type: z.string() }).parse(run?.result)
    expect(reminded.event_type).toBe("order:reminded")
    const [later] = await succeeded([reminded.event_id])
    expect(later?.result).toBe("order:reminded")
  })
})

describe("retries and timeouts", () => {
  it("tries again until it succeeds, and gives up its place meanwhile", async () => {
    const events = await Promise.all([publish("flaky", 1), publish("flaky", 2)])
    const runs = await succeeded(events.map((event) => event.event_id))
    expect(runs.map((run) => run.status).sort()).toEqual([...Array(4).fill("failed"), ...Array(2).fill("succeeded")])
    expect(runs.filter((run) => run.status === "succeeded").map((run) => run.result)).toEqual([3, 3])
    expect(together(runs)).toBe(1)
  })

  it("ends what takes too long", async () => {
    const event = await publish("slow", null)
    for (let round = 0; round < 100; round++) {
      const [run] = await runsOf(event.event_id)
      if (run?.status === "failed") {
        expect(JSON.stringify(run.result)).toContain("TimedOut")
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error("It never ended")
  })
})
