/** SIGTERM under load: no event is lost or handled twice, and the shutdown meets its time limit. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-drain-"))
let server: ServerProcess | undefined
afterAll(async () => {
  await server?.kill().catch(() => undefined)
  rmSync(dataDir, { recursive: true, force: true })
})

const begin = async (): Promise<ServerProcess> => {
  server = await startServer(dataDir)
  return server
}

const source = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export const work = async (event) => {
  await sleep(event.event_data.ms)
  return event.event_data.n
}
work.meta = { event: "work" }
export const hang = () => sleep(120_000)
hang.meta = { event: "hang", timeout: "3m" }
export const hook = async (request) => {
  await sleep(3_000)
  return { status: 200, body: "done" }
}
hook.meta = { webhook: { service: "drain", path: "/slow", method: "POST" } }
`

const Event = z.object({ data: z.object({ event_id: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })

const publish = async (server: ServerProcess, type: string, data: unknown): Promise<string> =>
  Event.parse(await server.call("POST", "/v1/events", { event_type: type, event_data: data })).data.event_id

/** Publishes until a request is rejected, and records the acknowledged ids. */
const publishUntilRejected = async (server: ServerProcess, acknowledged: Array<string>): Promise<void> => {
  for (let n = 0; ; n++) {
    try {
      acknowledged.push(await publish(server, "work", { n, ms: (n * 37) % 400 }))
    } catch (error) {
      const isRejected =
        error instanceof TypeError || (error instanceof Error && error.message.includes("returned 503"))
      if (isRejected) return
      throw error
    }
  }
}

const runsOf = async (server: ServerProcess, id: string) =>
  Runs.parse(await server.call("GET", `/v1/events/${id}/runs`)).data

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("The condition was not met within 30 s")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const secondsMax = 35

it("SIGTERM under load loses no event, disconnects clients, and ends within its time limit", async () => {
  const old = await begin()
  await old.upload("drain", source)
  const hanging = await publish(old, "hang", null)
  await until(async () => (await runsOf(old, hanging)).length === 1)
  const watching = fetch(`${old.url}/v1/env/subscribe`, { headers: { authorization: `Bearer ${apiKey}` } })
  const received = (await watching).text()
  const acknowledged: Array<string> = []
  const publishing = Array.from({ length: 4 }, () => publishUntilRejected(old, acknowledged))
  const hook = old.call("POST", "/webhook/default/production/drain/slow", {})
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await until(async () => acknowledged.length > 10)

  const began = performance.now()
  const stopped = old.stop()
  await Promise.all(publishing)
  expect(await received).toContain("retry: 1000")
  const { url } = old
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect(await hook).toBe("done")
  expect(await stopped).toBe(0)
  expect((performance.now() - began) / 1000).toBeLessThan(secondsMax)

  const next = await begin()
  for (const id of acknowledged) {
    await until(async () => (await runsOf(next, id)).length > 0 && (await runsOf(next, id))[0]?.status !== "running")
    expect((await runsOf(next, id)).map(({ status }) => status)).toEqual(["succeeded"])
  }
  // The delivery was requeued.
  await until(async () => (await runsOf(next, hanging)).length === 2)
  const [, first] = await runsOf(next, hanging)
  expect(first).toMatchObject({ status: "failed", result: { error: { name: "NodeLost" } } })
}, 120_000)
