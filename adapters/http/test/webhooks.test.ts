import { request as nodeRequest } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { replyOf, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes: 100_000 })
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const hook = (path: string): string => `/webhook/acme/prod/shop${path}`

const post = (body: string, type?: string, headers: Record<string, string> = {}) =>
  server.call("POST", hook("/echo"), {
    token: null,
    body,
    headers: { ...headers, ...(type === undefined ? {} : { "content-type": type }) }
  })

describe("the request that a function receives", () => {
  it("has method, path, query, headers and address", async () => {
    const reply = await server.call("POST", `${hook("/echo")}?a=1&a=2&b=%C3%A6`, {
      token: null,
      json: { n: 1 },
      headers: { "X-Mixed-Case": "Yes", "x-forwarded-for": "203.0.113.7, 10.0.0.1", "x-real-ip": "10.0.0.2" }
    })
    assert.strictEqual(reply.status, 200)
    assert.include(reply.json, { method: "POST", url: hook("/echo"), ip: "203.0.113.7", "body-raw": '{"n":1}' })
    assert.deepStrictEqual(reply.json.query, { a: "2", b: "æ" })
    assert.deepStrictEqual(reply.json.body, { n: 1 })
    assert.strictEqual(reply.json.headers["x-mixed-case"], "Yes")
    assert.isUndefined(reply.json.auth)
  })

  it("has the socket's address by default", async () => {
    assert.strictEqual((await post("x", "text/plain")).json.ip, "127.0.0.1")
    assert.strictEqual((await post("x", "text/plain", { "x-real-ip": "203.0.113.8" })).json.ip, "203.0.113.8")
  })

  it("has repeated headers joined", async () => {
    const received = await new Promise<string>((resolve) => {
      const headers = ["Content-Length", "0", "X-Many", "a", "X-Many", "b", "Host", "localhost"]
      const sent = nodeRequest(`${server.listening.url}${hook("/echo")}`, { method: "POST", headers }, (response) => {
        let text = ""
        response.on("data", (chunk) => {
          text += chunk
        })
        response.on("end", () => resolve(text))
      })
      sent.end()
    })
    assert.strictEqual(JSON.parse(received).headers["x-many"], "a, b")
  })

  it("has a body decoded by its type", async () => {
    const bodies = [
      ['{"a":[1]}', "application/json", { a: [1] }, '{"a":[1]}'],
      ['{"a":1}', "application/vnd.api+json; charset=utf-8", { a: 1 }, '{"a":1}'],
      ["{not json", "application/json", "{not json", "{not json"],
      ["a=1&b=x+y&a=2", "application/x-www-form-urlencoded", { a: "2", b: "x y" }, "a=1&b=x+y&a=2"],
      ["grüße", "text/plain; charset=utf-8", "grüße", "grüße"],
      ["", "application/json", null, ""]
    ] as const
    for (const [body, type, parsed, raw] of bodies) {
      const { json } = await post(body, type)
      assert.deepStrictEqual(json.body, parsed, type)
      assert.strictEqual(json["body-raw"], raw)
    }
  })
})

describe("the response of a function", () => {
  it("is 500 if it fails, without the tenant's error", async () => {
    const reply = await server.call("GET", hook("/fails"), { token: null })
    assert.strictEqual(reply.status, 500)
    assert.strictEqual(reply.json.error.code, "internal_server_error")
    assert.notInclude(reply.text, "tenant")
    const failed = await server.call("GET", "/v1/runs?status=failed")
    assert.strictEqual(failed.json.data[0].result.error.message, "a secret of the tenant")
  })
})

describe("a webhook route", () => {
  it("without an endpoint is 404", async () => {
    for (const [method, path] of [
      ["POST", "/webhook"],
      ["POST", "/webhook/acme"],
      ["POST", "/webhook/acme/prod"],
      ["POST", "/webhook/acme/prod/shop"],
      ["POST", "/webhook/acme/prod/shop/none"],
      ["POST", "/webhook/acme/prod/none/echo"],
      ["POST", "/webhook/acme/none/shop/echo"],
      ["POST", "/webhook/none/prod/shop/echo"],
      ["POST", "/webhook/acme/prod/shop/ECHO"],
      ["POST", "/webhook/acme/prod/shop/echo/"],
      ["POST", "/webhook/acme/prod/shop/%65cho"],
      ["GET", hook("/echo")],
      ["PATCH", hook("/echo")],
      ["OPTIONS", hook("/read")],
      ["HEAD", hook("/read")]
    ] as const) {
      const response = await fetch(`${server.listening.url}${path}`, { method })
      assert.strictEqual(response.status, 404, `${method} ${path}`)
      assert.isNotNull(response.headers.get("x-request-id"))
      if (method !== "HEAD") assert.strictEqual((await replyOf(response)).json.error.code, "not_found")
    }
  })

  it("accepts a body up to the exact limit", async () => {
    assert.strictEqual((await post("x".repeat(100_000), "text/plain")).status, 200)
    const reply = await post("x".repeat(100_001), "text/plain")
    assert.strictEqual(reply.status, 400)
    assert.strictEqual(reply.json.error.code, "bad_request")
    const response = await fetch(`${server.listening.url}${hook("/echo")}`, {
      method: "POST",
      body: new Blob(["x".repeat(100_001)]).stream(),
      duplex: "half"
    })
    assert.strictEqual(response.status, 400)
  })
})

describe("an endpoint with auth required", () => {
  const secret = (token: string | null) => server.call("POST", hook("/secret"), { token })

  it("is 401 without a valid credential", async () => {
    for (const token of [null, "nonsense", `${server.token}x`]) assert.strictEqual((await secret(token)).status, 401)
    const staging = await server.weft.envs.create("acme", { name: "staging" })
    const foreign = await server.weft.apiKeys.create(staging.env_id, {})
    assert.strictEqual((await secret(Redacted.value(foreign.token))).status, 401)
  })

  it("is 403 without the permission on its service", async () => {
    for (const map of [{}, { "webhook:other": ["execute"] }, { "mcp:*": ["execute"] }]) {
      const reply = await secret((await server.key(map)).token)
      assert.strictEqual(reply.status, 403)
      assert.strictEqual(reply.json.error.code, "forbidden")
    }
  })

  it("is 401, 403 or 404 before the error of an oversized body, on every path", async () => {
    const text = "x".repeat(100_001)
    const powerless = (await server.key({})).token
    for (const [path, token, status] of [
      ["/secret", null, 401],
      ["/secret", powerless, 403],
      ["/none", server.token, 404],
      ["/secret", server.token, 400]
    ] as const) {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` }
      const announced = { method: "POST", headers, body: text }
      const inChunks = { ...announced, body: new Blob([text]).stream(), duplex: "half" as const }
      for (const init of [announced, inChunks]) {
        const reply = await replyOf(await fetch(`${server.listening.url}${hook(path)}`, init))
        assert.strictEqual(reply.status, status, reply.text)
      }
    }
    assert.strictEqual((await secret(server.token)).status, 200)
  })

  it("passes the caller's identity to the function", async () => {
    for (const map of [{ "webhook:shop": ["execute"] }, { "webhook:*": ["*"] }, { "*:*": ["*"] }]) {
      const reply = await secret((await server.key(map)).token)
      assert.strictEqual(reply.status, 200)
      assert.strictEqual(reply.json.type, "api-key")
    }
  })
})
