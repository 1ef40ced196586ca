/** A database that crashes, or swallows whatever it is sent: each request is answered, and all is well afterwards. */
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
export const look = async (args) => ({ found: args.id })
look.meta = { tool: { service: "shop", name: "look" } }
`

const timeoutMs = 1000
/** A statement's time, its grace, and the time to connect again. */
const statementMs = timeoutMs + 2000 + 5000
/**
 * What is written waits for the batch before, and then for its own. That, the time for a look at custom domains, and some
 * for a busy machine: after it a request counts as one that hangs.
 */
const patienceMs = 2 * statementMs + 1000 + 4000

const dir = mkdtempSync(join(tmpdir(), "weft-away-"))
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
    signal: AbortSignal.timeout(patienceMs)
  })

/** One of each way in; all of them need the database. */
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
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "look", arguments: { id: 1 } } }
}

const Failed = z.object({ error: z.object({ code: z.literal("internal_server_error"), request_id: z.string() }) })

const isAnsweredAsAway = async (path: string, json: unknown): Promise<void> => {
  const response = await request(path, json)
  const text = await response.text()
  expect(`${path} ${response.status} ${text}`).toMatch(new RegExp(`^${path} 500 `))
  Failed.parse(JSON.parse(text))
  expect(response.headers.get("retry-after"), path).toMatch(/^[1-9]\d*$/)
}

const statusOf = async (path: string): Promise<number> => (await request(path)).status

const isReady = async (): Promise<void> => {
  while ((await statusOf("/readyz")) !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
}

const works = async (): Promise<void> => {
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

const isAway = async (): Promise<void> => {
  await Promise.all(requests.map(([path, json]) => isAnsweredAsAway(path, json)))
  expect(await statusOf("/readyz")).toBe(503)
  expect(await statusOf("/healthz")).toBe(200)
}

describe("while the database is away", () => {
  it("each request is answered with 500 and Retry-After, and the node goes on when it is back", async () => {
    await works()
    for (const how of ["crash", "fast"] as const) {
      await database.stop(how)
      await isAway()
      await database.start()
      await isReady()
      await works()
    }
  })

  it("that swallows what it is sent, no request hangs", async () => {
    proxy.set("blackhole")
    try {
      // First on connections that are there, then for want of new ones.
      await isAway()
      await isAway()
    } finally {
      proxy.set("open")
    }
    await isReady()
    await works()
  })

  it("an open subscription stays, and tells of what happens afterwards", async () => {
    const subscription = await fetch(`${node.url}/v1/env/subscribe`, { headers: { authorization: `Bearer ${apiKey}` } })
    await database.stop("crash")
    await isAway()
    await database.start()
    await isReady()
    await node.call("POST", "/v1/events", { event_type: "work", event_data: { n: 1 } })
    let told = ""
    for await (const bytes of subscription.body ?? []) {
      told += Buffer.from(bytes).toString()
      if (told.includes("event: run:stop")) break
    }
    expect(told).toContain("event: event:created")
  })
})
