/** kill -9 of the server and its runners under load: no acknowledged event is lost, and each one completes. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-crash-"))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const source = `
export const work = async (event) => {
  await new Promise((resolve) => setTimeout(resolve, event.event_data.ms))
  return event.event_data.n
}
work.meta = { event: "work" }
export const hook = async (request, svc) => {
  const { event_id } = await svc.events.publish({ type: "work", data: request.body })
  return { status: 200, body: { event_id } }
}
hook.meta = { webhook: { service: "crash", path: "/work", method: "POST" } }
`

const Run = z.object({
  run_id: z.string(),
  status: z.string(),
  run_type: z.string(),
  event_id: z.string().nullable(),
  result: z.unknown()
})
const Runs = z.object({ data: z.array(Run) })
const Stats = z.object({
  data: z.object({
    total_runs: z.number(),
    running: z.number(),
    succeeded: z.number(),
    failed: z.number(),
    cancelled: z.number()
  })
})
const Event = z.object({ data: z.object({ event_id: z.string() }) })

/** Publishes by API and by webhook until the server dies, and records the acknowledged ids. */
const publishUntilKilled = async (server: ServerProcess, acknowledged: Set<string>): Promise<void> => {
  const publisher = async (start: number): Promise<void> => {
    for (let n = start; ; n += 8) {
      try {
        if (n % 2 === 0) {
          const answer = await server.call("POST", "/v1/events", { event_type: "work", event_data: { n, ms: n % 40 } })
          acknowledged.add(Event.parse(answer).data.event_id)
        } else {
          const answer = await server.call("POST", "/webhook/default/production/crash/work", { n, ms: n % 40 })
          acknowledged.add(z.object({ event_id: z.string() }).parse(answer).event_id)
        }
      } catch (error) {
        // Only a broken connection ends the publisher. An error response fails the test.
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, index) => publisher(index)))
}

const statsOf = async (server: ServerProcess) => Stats.parse(await server.call("GET", "/v1/runs/stats")).data

const untilIdle = async (server: ServerProcess): Promise<void> => {
  const deadline = performance.now() + 30_000
  for (let idlePolls = 0; idlePolls < 5; ) {
    if (performance.now() > deadline) throw new Error(`Still running: ${JSON.stringify(await statsOf(server))}`)
    idlePolls = (await statsOf(server)).running === 0 ? idlePolls + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe("kill -9", () => {
  it("loses no acknowledged event, three times in a row", { timeout: 120_000 }, async () => {
    const acknowledged = new Set<string>()
    let server = await startServer(dataDir)
    await server.upload("crash", source)
    for (let life = 0; life < 3; life++) {
      const publishing = publishUntilKilled(server, acknowledged)
      await new Promise((resolve) => setTimeout(resolve, 1_000 + life * 300))
      await server.kill()
      await publishing
      server = await startServer(dataDir)
    }
    await untilIdle(server)

    expect(acknowledged.size).toBeGreaterThan(50)
    for (const id of acknowledged) {
      const { data } = Runs.parse(await server.call("GET", `/v1/events/${id}/runs`))
      expect(data.filter((run) => run.status === "succeeded")).toHaveLength(1)
      for (const lost of data.filter((run) => run.status !== "succeeded")) {
        expect(lost).toMatchObject({ status: "failed", result: { error: { name: "NodeLost" } } })
      }
    }
    const stats = await statsOf(server)
    expect(stats.running).toBe(0)
    expect(stats.total_runs).toBe(stats.succeeded + stats.failed + stats.cancelled)
    expect(await server.stop()).toBe(0)
  })

  it("a new master key only invalidates prepared builds, which are prepared again", { timeout: 60_000 }, async () => {
    const server = await startServer(dataDir, { WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") })
    const answer = await server.call("POST", "/webhook/default/production/crash/work", { n: 1, ms: 0 })
    expect(answer).toMatchObject({ event_id: expect.any(String) })
    expect(await server.stop()).toBe(0)
  })

  it("rejects a second server on the same data", { timeout: 60_000 }, async () => {
    const server = await startServer(dataDir)
    await expect(startServer(dataDir)).rejects.toThrow("exited with code 1")
    expect(await server.stop()).toBe(0)
  })
})
