/** PostgreSQL under load: connections cut at any moment, a crash and restart, and a failover to a standby. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type PostgresServer, type PostgresStandby, postgres, type TcpProxy, tcpProxy } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const source = `
export const work = async (event) => event.event_data.n
work.meta = { event: "work" }
`

const requestMsMax = 30_000
const publishers = 8

const dir = mkdtempSync(join(tmpdir(), "weft-failover-"))
let primary: PostgresServer
let standby: PostgresStandby
let proxy: TcpProxy
let nodes: ReadonlyArray<ServerProcess> = []
const ends: Array<() => Promise<unknown>> = []
beforeAll(async () => {
  primary = await postgres()
  ends.unshift(primary.remove)
  standby = await primary.startStandby()
  ends.unshift(standby.remove)
  proxy = await tcpProxy(primary.port)
  ends.unshift(proxy.close)
  const url = new URL(primary.url)
  url.port = String(proxy.port)
  const start = async (name: string): Promise<ServerProcess> => {
    const node = await startServer(join(dir, name), {
      WEFT_DATABASE_URL: url.href,
      WEFT_DATABASE_TIMEOUT_MS: "1000",
      WEFT_STORAGE_URL: `file://${join(dir, "blobs")}`,
      WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      WEFT_SANDBOX_RUNNERS: "1"
    })
    ends.unshift(node.kill)
    return node
  }
  nodes = [await start("a"), await start("b")]
  await nodes[0]?.upload("shop", source)
}, 90_000)
afterAll(async () => {
  for (const end of ends) await end()
  rmSync(dir, { recursive: true, force: true })
})

const Event = z.object({ data: z.object({ event_id: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })
const Failed = z.object({ error: z.object({ code: z.literal("internal_server_error"), request_id: z.string() }) })

/** Publishers that send one event after the other to both nodes, and remember what was acknowledged. */
class Load {
  readonly acknowledged = new Map<string, number>()
  readonly faults: Array<string> = []
  rejected = 0
  #n = 0
  #isEnding = false
  readonly #running = Array.from({ length: publishers }, (_, at) => this.#publishUntilEnd(at))

  async #publishUntilEnd(at: number): Promise<void> {
    while (!this.#isEnding) await this.#publish(nodes[at % nodes.length]?.url ?? "", ++this.#n)
  }

  async #publish(url: string, n: number): Promise<void> {
    const response = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ event_type: "work", event_data: { n } }),
      signal: AbortSignal.timeout(requestMsMax)
    }).catch((error: unknown) => String(error))
    if (typeof response === "string") return void this.faults.push(response)
    const text = await response.text()
    if (response.status === 201) return void this.acknowledged.set(Event.parse(JSON.parse(text)).data.event_id, n)
    this.rejected++
    const isOutage = [500, 503].includes(response.status) && Failed.safeParse(JSON.parse(text)).success
    if (isOutage && /^[1-9]\d*$/.test(response.headers.get("retry-after") ?? "")) return
    this.faults.push(`${response.status} ${response.headers.get("retry-after")} ${text}`)
  }

  /** Resolves when `count` more events are acknowledged, which shows that the nodes have recovered. */
  async acknowledges(count: number): Promise<void> {
    const enough = this.acknowledged.size + count
    await expect.poll(() => this.acknowledged.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(enough)
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#running)
  }
}

const nodeLost = { status: "failed", result: { error: { name: "NodeLost" } } }

/**
 * Expects that each acknowledged event succeeded exactly once. Further runs are those whose claim reached the database
 * while its answer was lost: no node knows them, and the reaper repeats them.
 */
const expectSettledOnce = async (load: Load): Promise<void> => {
  const [node] = nodes
  for (const [id, n] of load.acknowledged) {
    const read = async () => Runs.parse(await node?.call("GET", `/v1/events/${id}/runs`)).data
    const succeeded = async () => (await read()).filter(({ status }) => status === "succeeded")
    await expect.poll(succeeded, { timeout: 60_000 }).toEqual([{ status: "succeeded", result: n }])
    for (const other of (await read()).filter(({ status }) => status !== "succeeded")) {
      expect(other).toMatchObject(nodeLost)
    }
  }
}

const underLoad = async (faults: (load: Load) => Promise<void>): Promise<void> => {
  const load = new Load()
  await load.acknowledges(20)
  await faults(load)
  await load.acknowledges(20)
  await load.end()
  expect(load.faults).toEqual([])
  expect(load.rejected).toBeGreaterThan(0)
  await expectSettledOnce(load)
}

describe("PostgreSQL under load", { timeout: 240_000 }, () => {
  it("may lose its connections in the middle of commits", async () => {
    await underLoad(async (load) => {
      for (let time = 0; time < 10; time++) {
        proxy.set("cut")
        await sleep(20)
        proxy.set("open")
        await load.acknowledges(5)
      }
    })
  })

  it("may crash and restart", async () => {
    await underLoad(async (load) => {
      for (let time = 0; time < 2; time++) {
        await primary.stop("crash")
        await sleep(500)
        await primary.start()
        await load.acknowledges(5)
      }
    })
  })

  it("may lead to a standby that only reads until it is promoted on another port", async () => {
    await underLoad(async (load) => {
      await primary.stop("crash")
      proxy.retarget(standby.port)
      const before = load.rejected
      await expect.poll(() => load.rejected, { timeout: 60_000 }).toBeGreaterThan(before + publishers)
      for (const { url } of nodes) expect((await fetch(`${url}/healthz`)).status).toBe(200)
      standby.promote()
    })
    for (const { url } of nodes) expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })
})
