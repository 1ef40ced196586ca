/** A database that crashes or stops responding: each request gets a response, and the node recovers. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres, type TcpProxy, tcpProxy } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { adminToken, apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const source = `
export const work = async (event) => event.event_data.n
work.meta = { event: "work" }
export const hook = async (request) => ({ status: 200, body: { did: request.body.n } })
hook.meta = { webhook: { service: "shop", path: "/do", method: "POST" } }
export const find = async (args) => ({ found: args.id })
find.meta = { tool: { service: "shop", name: "find" } }
`

const timeoutMs = 1000
/** Time of a statement: its limit, its grace period, and a reconnect. */
const statementMs = timeoutMs + 2000 + 5000
/**
 * Time after which a request counts as hanging. A write waits for the previous batch and for its own. The rest is for the
 * lookup of custom domains and for a busy machine.
 */
const requestMsMax = 2 * statementMs + 1000 + 4000

const dir = mkdtempSync(join(tmpdir(), "weft-outage-"))
let database: PostgresServer
let proxy: TcpProxy
let node: ServerProcess
const ends: Array<() => Promise<unknown>> = []
beforeAll(async () => {
  database = await postgres()
  ends.unshift(database.remove)
  proxy = await tcpProxy(database.port)
  ends.unshift(proxy.close)
  const url = new URL(database.url)
  url.port = String(proxy.port)
  node = await startServer(dir, {
    WEFT_DATABASE_URL: url.href,
    WEFT_DATABASE_TIMEOUT_MS: String(timeoutMs),
    WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    WEFT_SANDBOX_RUNNERS: "1"
  })
  ends.unshift(node.kill)
  await node.upload("shop", source)
}, 60_000)
afterAll(async () => {
  for (const end of ends) await end()
  rmSync(dir, { recursive: true, force: true })
})

const request = (path: string, json?: unknown): Promise<Response> =>
  fetch(`${node.url}${path}`, {
    method: json === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${path.startsWith("/admin") ? adminToken : apiKey}`,
      accept: "application/json, text/event-stream",
      ...(json === undefined ? {} : { "content-type": "application/json" })
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(requestMsMax)
  })

/** One request per entry point. Each needs the database. */
const requests: ReadonlyArray<readonly [path: string, json?: unknown]> = [
  ["/v1/projects"],
  ["/v1/runs/stats"],
  ["/v1/files"],
  ["/v1/events", { event_type: "work", event_data: { n: 1 } }],
  ["/v1/calls", { fn: "shop:main/work", args: [{ event_data: { n: 1 } }], wait: 5 }],
  ["/v1/streams/subscribe-with-event", { event_type: "work", event_data: { n: 1 } }],
  ["/webhook/default/production/shop/do", { n: 1 }],
  ["/mcp/default/production/shop", toolCall()],
  ["/admin/orgs"]
]

function toolCall() {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "find", arguments: { id: 1 } } }
}

const Failed = z.object({ error: z.object({ code: z.literal("internal_server_error"), request_id: z.string() }) })

const expectOutageResponse = async (path: string, json: unknown): Promise<void> => {
  const response = await request(path, json)
  const text = await response.text()
  expect(`${path} ${response.status} ${text}`).toMatch(new RegExp(`^${path} 500 `))
  Failed.parse(JSON.parse(text))
  expect(response.headers.get("retry-after"), path).toMatch(/^[1-9]\d*$/)
}

const statusOf = async (path: string): Promise<number> => (await request(path)).status

const untilReady = async (): Promise<void> => {
  while ((await statusOf("/readyz")) !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
}

const expectWorking = async (): Promise<void> => {
  for (const [path, json] of requests) {
    const response = await request(path, json)
    expect(`${path} ${response.status}`).toMatch(/ 20[01]$/)
    await response.body?.cancel()
  }
  const ended = await node.call("POST", "/v1/calls", {
    fn: "shop:main/work",
    args: [{ event_data: { n: 7 } }],
    wait: 30
  })
  expect(ended).toMatchObject({ data: { status: "succeeded", result: 7 } })
}

const expectOutage = async (): Promise<void> => {
  await Promise.all(requests.map(([path, json]) => expectOutageResponse(path, json)))
  expect(await statusOf("/readyz")).toBe(503)
  expect(await statusOf("/healthz")).toBe(200)
}

describe("during an outage of the database", () => {
  it("each request gets 500 and Retry-After, and the node recovers afterwards", async () => {
    await expectWorking()
    for (const mode of ["crash", "fast"] as const) {
      await database.stop(mode)
      await expectOutage()
      await database.start()
      await untilReady()
      await expectWorking()
    }
  })

  it("no request hangs if the database stops responding", async () => {
    proxy.set("blackhole")
    try {
      // The first time on open connections, the second time without new ones.
      await expectOutage()
      await expectOutage()
    } finally {
      proxy.set("open")
    }
    await untilReady()
    await expectWorking()
  })

  it("an open subscription survives and receives later messages", async () => {
    const subscription = await fetch(`${node.url}/v1/env/subscribe`, { headers: { authorization: `Bearer ${apiKey}` } })
    await database.stop("crash")
    await expectOutage()
    await database.start()
    await untilReady()
    await node.call("POST", "/v1/events", { event_type: "work", event_data: { n: 1 } })
    let received = ""
    for await (const bytes of subscription.body ?? []) {
      received += Buffer.from(bytes).toString()
      if (received.includes("event: run:stop")) break
    }
    expect(received).toContain("event: event:created")
  })
})
