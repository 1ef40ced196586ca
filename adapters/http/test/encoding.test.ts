/** Bytes that are not UTF-8: nobody stores a replacement character that a client has not sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Http from "@weft/http"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { adminToken, checkEnvelope, type Reply, replyOf, TestServer } from "./server/TestServer.ts"

let server: TestServer
let mounted: Http.FetchMount

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
  await server.deploy("tools", "tools")
  mounted = Http.fetch(server.weft, { adminToken: Redacted.make(adminToken) })
})
afterAll(async () => {
  await mounted.close({ graceMs: 0 })
  await server.close()
})

/** A bare continuation byte, overlong forms of `/` and NUL, a surrogate, a code point above U+10FFFF, half a character. */
const invalid: ReadonlyArray<ReadonlyArray<number>> = [
  [0x80],
  [0xff],
  [0xc0, 0xaf],
  [0xc0, 0x80],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82]
]

const around = (before: string, bytes: ReadonlyArray<number>, after: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array([...Buffer.from(before), ...bytes, ...Buffer.from(after)])

const escaped = (bytes: ReadonlyArray<number>): string =>
  bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

type Send = (path: string, init?: RequestInit) => Promise<Reply>

const transports: Record<string, Send> = {
  "node:http": async (path, init) => checkEnvelope(await replyOf(await fetch(server.listening.url + path, init))),
  fetch: async (path, init) => checkEnvelope(await replyOf(await mounted(new Request(`http://a${path}`, init))))
}

const refused = (reply: Reply, message: string): void => {
  assert.deepStrictEqual(
    [reply.status, reply.json?.error],
    [400, { code: "bad_request", message, request_id: reply.headers.get("x-request-id") }]
  )
}

for (const [name, send] of Object.entries(transports)) {
  const bearer = (token = server.token) => ({ authorization: `Bearer ${token}` })
  const post = (path: string, body: Uint8Array<ArrayBuffer>, token = server.token): Promise<Reply> =>
    send(path, { method: "POST", body, headers: { ...bearer(token), "content-type": "application/json" } })

  describe(`a body that is not UTF-8, on ${name}`, () => {
    it("is 400 on every route with JSON, and nothing is stored", async () => {
      const before = (await send("/v1/events", { headers: bearer() })).json.pagination.total
      for (const bytes of invalid) {
        const event = around('{"event_type":"a","event_data":"', bytes, '"}')
        refused(await post("/v1/events", event), "The body is not valid UTF-8")
        refused(await post("/v1/projects", around('{"name":"', bytes, '"}')), "The body is not valid UTF-8")
        refused(await post("/admin/orgs", around('{"slug":"', bytes, '"}'), adminToken), "The body is not valid UTF-8")
        refused(await post("/mcp/acme/prod/desk", around('{"id":"', bytes, '"}')), "The body is not valid UTF-8")
      }
      assert.strictEqual((await send("/v1/events", { headers: bearer() })).json.pagination.total, before)
    })

    it("is 401 without a credential", async () => {
      assert.strictEqual((await post("/v1/events", around('"', [0xff], '"'), "wrong")).status, 401)
    })

    it("reaches a webhook without a change", async () => {
      for (const bytes of invalid) {
        const body = around('{"a":"', bytes, '"}')
        const { status, json } = await post("/webhook/acme/prod/shop/echo", body)
        assert.deepStrictEqual([status, json.body, json["body-raw"]], [200, null, Buffer.from(body).toString("base64")])
      }
    })

    it("is not confused with a replacement character or a byte order mark that a client sends", async () => {
      const sent = around('\ufeff{"event_type":"a","event_data":"', [...Buffer.from("\ufffd€😀")], '"}')
      const reply = await post("/v1/events", sent)
      assert.deepStrictEqual([reply.status, reply.json.data?.event_data], [201, "\ufffd€😀"])
    })
  })

  describe(`a URL that is not percent-encoded UTF-8, on ${name}`, () => {
    it("is 400 for queries, after the checks of credential and permission", async () => {
      for (const bytes of invalid) {
        const query = `?prefix=a${escaped(bytes)}`
        refused(await send(`/v1/files${query}`, { headers: bearer() }), "The query must be percent-encoded UTF-8")
        refused(
          await send(`/admin/orgs?limit=${escaped(bytes)}`, { headers: bearer(adminToken) }),
          "The query must be percent-encoded UTF-8"
        )
        assert.strictEqual((await send(`/v1/files${query}`)).status, 401)
        const { token } = await server.key({})
        assert.strictEqual((await send(`/v1/files${query}`, { headers: bearer(token) })).status, 403)
      }
    })

    it("is 400 for queries of webhooks, which functions receive decoded", async () => {
      for (const bytes of invalid) {
        refused(
          await send(`/webhook/acme/prod/shop/read?a=b&q=${escaped(bytes)}`),
          "The query must be percent-encoded UTF-8"
        )
      }
    })

    it("is 404 for paths of resources, and 400 for paths of files", async () => {
      for (const bytes of invalid) {
        const reply = await send(`/v1/projects/${escaped(bytes)}`, { headers: bearer() })
        assert.deepStrictEqual([reply.status, reply.json.error.code], [404, "not_found"])
        const put = { method: "PUT", body: "x", headers: bearer() }
        refused(await send(`/v1/files/upload/${escaped(bytes)}`, put), "path must be percent-encoded UTF-8")
      }
    })

    it("is 200 for every character, and for a percent sign in a query", async () => {
      const { status, json } = await send(
        `/webhook/acme/prod/shop/echo?a=${encodeURIComponent("é€😀")}&b=100%&c=%zz&d=%00`,
        { method: "POST" }
      )
      assert.deepStrictEqual([status, json.query], [200, { a: "é€😀", b: "100%", c: "%zz", d: "\0" }])
      assert.strictEqual((await send("/v1/files?prefix=%f0%9f%98%80", { headers: bearer() })).status, 200)
      assert.strictEqual((await send("/v1/projects/%f0%9f%98%80", { headers: bearer() })).status, 404)
    })
  })
}
