/** Compression, caching of the public pages, and timings. */
import { request } from "node:http"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start({ streamLifetimeMs: 300 })
  await server.deploy("shop", "shop")
  for (let index = 0; index < 20; index++) {
    await server.call("POST", "/v1/projects", { json: { name: `project-with-a-name-${index}` } })
  }
})
afterAll(() => server.close())

interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
}

/** Sends a request whose response is not decoded. */
const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<RawReply> =>
  new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${server.token}`, ...headers }
    const sent = request(`${server.listening.url}${path}`, { method, headers: all }, (reply) => {
      const chunks: Array<Buffer> = []
      reply.on("data", (chunk: Buffer) => chunks.push(chunk))
      reply.on("end", () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) })
      )
    })
    sent.on("error", reject)
    sent.end()
  })

const decoders = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync }
const list = "/v1/projects?limit=100"

describe("a response of the API", () => {
  it("is compressed with the coding that the client prefers", async () => {
    const plain = await get(list)
    assert.isUndefined(plain.headers["content-encoding"])
    assert.isUndefined(plain.headers.vary)
    for (const [coding, decode] of Object.entries(decoders)) {
      const reply = await get(list, { "accept-encoding": `${coding}, gzip;q=0.5` })
      assert.deepStrictEqual([reply.headers["content-encoding"], reply.headers.vary], [coding, "Accept-Encoding"])
      assert.strictEqual(reply.headers["content-length"], String(reply.body.length))
      assert.isBelow(reply.body.length, plain.body.length / 2)
      assert.deepStrictEqual(JSON.parse(decode(reply.body).toString()).data, JSON.parse(plain.body.toString()).data)
    }
  })

  it("is sent as it is if it is small, has secrets, or is a function's", async () => {
    const headers = { "accept-encoding": "gzip" }
    assert.isUndefined((await get("/v1/status", headers)).headers["content-encoding"])
    assert.isUndefined(
      (await get(`/webhook/acme/prod/shop/read?a=${"x".repeat(2000)}`, headers)).headers["content-encoding"]
    )
    const identity = await get(list, { "accept-encoding": "identity" })
    assert.deepStrictEqual(
      [identity.headers["content-encoding"], identity.headers.vary],
      [undefined, "Accept-Encoding"]
    )
  })
})

describe("a public page", () => {
  it.each(["/docs", "/v1/openapi.json"])("%s has an ETag of each coding, and is not sent again", async (path) => {
    const plain = await get(path)
    const { etag } = plain.headers
    assert.match(String(etag), /^"[\w-]{22}"$/)
    assert.strictEqual(plain.headers["cache-control"], "no-cache")
    const unchanged = await get(path, { "if-none-match": `"other", ${etag}` })
    assert.deepStrictEqual([unchanged.status, unchanged.body.length, unchanged.headers.etag], [304, 0, etag])

    const compressed = await get(path, { "accept-encoding": "br" })
    assert.deepStrictEqual(brotliDecompressSync(compressed.body), plain.body)
    assert.strictEqual(compressed.headers.etag, `${String(etag).slice(0, -1)}-br"`)
    const other = await get(path, { "accept-encoding": "br", "if-none-match": String(etag) })
    assert.strictEqual(other.status, 200)
    const same = await get(path, { "accept-encoding": "br", "if-none-match": String(compressed.headers.etag) })
    assert.strictEqual(same.status, 304)
  })
})

describe("an event stream", () => {
  it("is compressed for clients that ask for it, and readable before its end", async () => {
    const plain = await get("/v1/env/subscribe", { accept: "text/event-stream" })
    assert.isUndefined(plain.headers["content-encoding"])
    const reply = await get("/v1/env/subscribe", { accept: "text/event-stream", "accept-encoding": "gzip, br" })
    assert.strictEqual(reply.headers["content-encoding"], "gzip")
    assert.match(gunzipSync(reply.body).toString(), /^:/)
  })
})

describe("Server-Timing", () => {
  it("is sent on request", async () => {
    assert.isUndefined((await get("/v1/status")).headers["server-timing"])
    const reply = await get("/v1/status", { "x-server-timing": "1" })
    assert.match(String(reply.headers["server-timing"]), /^total;dur=\d+\.\d$/)
  })
})
