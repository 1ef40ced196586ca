/** A server without free file descriptors: it rejects or delays requests, keeps running, and recovers. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const source = `
export const work = async (event) => event.event_data.n
work.meta = { event: "work" }
`

const dir = mkdtempSync(join(tmpdir(), "weft-descriptors-"))
let server: ServerProcess
beforeAll(async () => {
  // Every collection is a full one, so that collections certainly happen without descriptors.
  const flags = ["--gc-global", "--max-semi-space-size=1"]
  server = await startServer(dir, { WEFT_SANDBOX_RUNNERS: "1" }, { flags })
  await server.upload("descriptors", source)
}, 60_000)
afterAll(async () => {
  await server.kill()
  rmSync(dir, { recursive: true, force: true })
})

const open = (): number => readdirSync(`/proc/${server.pid}/fd`).length

/** Returns the number of the next descriptor. */
const lowestFree = (): number => {
  const taken = new Set(readdirSync(`/proc/${server.pid}/fd`).map(Number))
  for (let fd = 0; ; fd++) if (!taken.has(fd)) return fd
}

/** Limits descriptors to numbers below `count`. */
const limit = (count: number): void => {
  execFileSync("prlimit", ["--pid", String(server.pid), `--nofile=${count}:`])
}

const waitMs = 3_000

/** Sends a request and reads the whole response, so that its connection is free for the next one. Null after a failure. */
const request = async (
  method: string,
  path: string,
  body?: Uint8Array<ArrayBuffer> | string
): Promise<Response | null> => {
  try {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(waitMs),
      ...(body === undefined ? {} : { body })
    })
    const { status, headers } = response
    return new Response(await response.arrayBuffer(), { status, headers })
  } catch {
    return null
  }
}

const Event = z.object({ data: z.object({ event_id: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })

const openSockets = async (count: number): Promise<ReadonlyArray<Socket>> => {
  const { port } = new URL(server.url)
  const sockets = Array.from({ length: count }, () => connect(Number(port), "127.0.0.1").on("error", () => undefined))
  await new Promise((resolve) => setTimeout(resolve, 300))
  return sockets
}

describe("without descriptors", { timeout: 60_000 }, () => {
  it("no acknowledged event is lost, and the server recovers", async () => {
    const before = open()
    const acknowledged = new Map<string, number>()
    const publish = async (n: number): Promise<number | null> => {
      const response = await request("POST", "/v1/events", JSON.stringify({ event_type: "work", event_data: { n } }))
      if (response?.status === 201) acknowledged.set(Event.parse(await response.json()).data.event_id, n)
      return response?.status ?? null
    }
    limit(open() + 4)
    const sockets = await openSockets(200)
    for (let n = 0; n < 3; n++) expect([201, 500, 503, null]).toContain(await publish(n))
    const upload = await request("PUT", "/v1/files/upload/crowded", new Uint8Array(100_000))
    expect([200, 500, 503, null]).toContain(upload?.status ?? null)
    for (const socket of sockets) socket.destroy()
    limit(4_096)

    await expect.poll(async () => publish(10), { timeout: 20_000 }).toBe(201)
    expect((await request("PUT", "/v1/files/upload/later", new Uint8Array(100_000)))?.status).toBe(200)
    for (const [id, n] of acknowledged) {
      await expect
        .poll(async () => Runs.parse(await server.call("GET", `/v1/events/${id}/runs`)).data, { timeout: 20_000 })
        .toMatchObject([{ status: "succeeded", result: n }])
    }
    // The descriptors of the connections are released.
    await expect.poll(open, { timeout: 20_000 }).toBeLessThan(before + 20)
  })

  it("connections that cannot be accepted do not end the server", async () => {
    // Node keeps one descriptor to accept and close further connections. Now it cannot use that one either.
    limit(3)
    const sockets = await openSockets(20)
    limit(4_096)
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await request("GET", "/v1/files"))?.status, { timeout: 20_000 }).toBe(200)
  })

  it("for files, an upload on an open connection gets 500 and Retry-After", async () => {
    expect((await request("GET", "/v1/files"))?.status).toBe(200)
    const statuses = new Set<number | null>()
    // Stop at the first rejection: a response before the end of the body closes the connection.
    for (let n = 0; n < 50 && !statuses.has(500); n++) {
      // The connection remains open, and all numbers below the limit are in use, unless the server closes one now.
      limit(lowestFree())
      const response = await request("PUT", `/v1/files/upload/none-${n}`, new Uint8Array(10_000))
      if (response !== null && response.status !== 200) {
        expect(response.status).toBe(500)
        expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
      }
      statuses.add(response?.status ?? null)
    }
    limit(4_096)
    expect(statuses).not.toContain(null)
    expect(statuses).toContain(500)
    const after = async () => (await request("PUT", "/v1/files/upload/after", new Uint8Array(10_000)))?.status
    await expect.poll(after, { timeout: 20_000 }).toBe(200)
    expect(await server.stop()).toBe(0)
  })
})
