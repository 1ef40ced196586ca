/** One memory budget for all bodies: JSON, webhooks, MCP messages and build uploads. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { eventually } from "../server/FileClient.ts"
import { openRaw, type Raw } from "../server/RawExchange.ts"
import { type Reply, TestServer } from "../server/TestServer.ts"

const bodyBytes = 100_000
/** The first 16 KiB of each body do not count. */
const freeBytes = 16 * 1024

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes, bufferedBodyBytes: bodyBytes, archiveBytes: bodyBytes })
  await server.deploy("shop", "shop")
  await server.deploy("tools", "tools")
})
afterAll(() => server.close())

const text = "x".repeat(bodyBytes - 1000)

/** Requests of each kind with a body that needs most of the budget. */
const kinds: Record<string, () => Promise<Reply>> = {
  JSON: () => server.call("POST", "/v1/events", { json: { event_type: "a", event_data: text } }),
  webhook: () => server.call("POST", "/webhook/acme/prod/shop/echo", { body: text, token: null }),
  MCP: () =>
    server.call("POST", "/mcp/acme/prod/desk", {
      json: { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: { text } } }
    }),
  "build upload": () => {
    const form = new FormData()
    form.set("hash", "0".repeat(64))
    form.set("file", new Blob([text]), "build.zip")
    return server.call("POST", "/v1/projects/shop/builds", { body: form })
  }
}

const heads: Record<string, string> = {
  JSON: "POST /v1/events HTTP/1.1\r\nContent-Type: application/json\r\n",
  webhook: "POST /webhook/acme/prod/shop/echo HTTP/1.1\r\n",
  MCP: "POST /mcp/acme/prod/desk HTTP/1.1\r\n",
  "build upload": "POST /v1/projects/shop/builds HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
}
const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'

/** Sends a body of this kind that uses up the budget and does not end. */
const hold = (kind: string): Raw => {
  const raw = openRaw(server.listening)
  const body = (kind === "build upload" ? part : "") + "x".repeat(bodyBytes - 10_000)
  raw.socket.write(
    `${heads[kind]}Host: a\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${bodyBytes}\r\n\r\n${body}`
  )
  return raw
}

describe("the memory budget of bodies", () => {
  for (const holding of Object.keys(kinds)) {
    it(`is used up by the ${holding} of a slow client, so that other large bodies get 503, until it disconnects`, async () => {
      const held: Array<Raw> = []
      try {
        // A probe may itself use the budget when a held body arrives, so there is another one for each probe.
        await eventually(async () => {
          held.push(hold(holding))
          await sleep(50)
          return (await kinds.JSON?.())?.status === 503
        })
        for (const [kind, send] of Object.entries(kinds)) {
          const { status, headers, json } = await send()
          assert.deepStrictEqual(
            [kind, status, headers.get("retry-after"), json?.error.code],
            [kind, 503, "1", "internal_server_error"]
          )
        }
        const small = { event_type: "a", event_data: "x".repeat(freeBytes - 100) }
        assert.strictEqual((await server.call("POST", "/v1/events", { json: small })).status, 201)
      } finally {
        for (const { socket } of held) socket.destroy()
      }
      for (const [kind, send] of Object.entries(kinds)) {
        await eventually(async () => (await send()).status !== 503)
        // A second one has space again, so the first was released.
        assert.notStrictEqual((await send()).status, 503, kind)
      }
    })
  }
})
