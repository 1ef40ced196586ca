import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes: 10_000 })
})
afterAll(() => server.close())

const json = { "content-type": "application/json" }

describe("every response", () => {
  it("has a new request id, regardless of the client's headers", async () => {
    const ids = new Set<string | null>()
    for (const path of ["/v1/status", "/v1/projects", "/v1/nothing", "/webhook/a/b/c/d", "/healthz", "/elsewhere"]) {
      const reply = await server.call("GET", path, { headers: { "x-request-id": "mine" } })
      ids.add(reply.headers.get("x-request-id"))
    }
    assert.strictEqual(ids.size, 6)
    assert.isFalse(ids.has("mine"))
  })
})

describe("credentials", () => {
  it("accept the scheme in any case", async () => {
    const reply = await server.call("GET", "/v1/env", {
      token: null,
      headers: { authorization: `bearer ${server.token}` }
    })
    assert.strictEqual(reply.status, 200)
  })

  it("are not required by public routes", async () => {
    for (const path of ["/v1/status", "/v1/openapi.json", "/healthz", "/readyz"]) {
      assert.strictEqual((await server.call("GET", path, { token: null })).status, 200, path)
    }
  })
})

describe("a JSON body", () => {
  const post = (body: string, headers: Record<string, string> = json) =>
    server.call("POST", "/v1/events", { body, headers })

  it("returns 400 with the position if it is malformed", async () => {
    const reply = await post('{"event_type": "a",\n "event_data": secret}')
    assert.strictEqual(reply.status, 400)
    assert.strictEqual(reply.json.error.message, "The body is not JSON: line 2, column 16")
  })

  it("returns 400 with the name of a missing or wrong field, never its value", async () => {
    const cases = [
      [{ event_data: 1 }, "event_type"],
      [{ event_type: { secret: "hush" }, event_data: 1 }, "event_type"],
      [{ event_type: "a" }, "event_data"],
      [{ event_type: "a", event_data: 1, stream_id: "hush" }, "stream_id"]
    ] as const
    for (const [body, field] of cases) {
      const reply = await post(JSON.stringify(body))
      assert.strictEqual(reply.status, 400)
      assert.include(reply.json.error.message, field)
      assert.notInclude(reply.text, "hush")
    }
  })

  it("returns 400 if it is nested too deeply", async () => {
    const nested = (levels: number) => `{"event_type":"a","event_data":${"[".repeat(levels)}${"]".repeat(levels)}}`
    assert.strictEqual((await post(nested(500))).status, 201)
    for (const levels of [501, 4900]) {
      const reply = await post(nested(levels))
      assert.strictEqual(reply.status, 400)
      assert.strictEqual(reply.json.error.message, "event_data: must not be nested deeper than 500 levels")
    }
  })

  it("has numbers as doubles, and none beyond their range", async () => {
    const stored = async (number: string) => {
      const reply = await post(`{"event_type":"a","event_data":${number}}`)
      return reply.status === 201 ? reply.json.data.event_data : reply.json.error.message
    }
    assert.strictEqual(await stored("9007199254740991"), 9007199254740991)
    assert.strictEqual(await stored("9007199254740993"), 9007199254740992)
    assert.strictEqual(await stored("0.1234567890123456789"), 0.12345678901234568)
    assert.strictEqual(await stored("1e308"), 1e308)
    assert.strictEqual(await stored("1e309"), "event_data: Expected JSON value")
  })

  it("may have unknown fields", async () => {
    const reply = await post(JSON.stringify({ event_type: "a", event_data: null, extra: 1 }))
    assert.strictEqual(reply.status, 201)
  })

  it("returns 400 above the limit, with or without Content-Length", async () => {
    const body = JSON.stringify({ event_type: "a", event_data: "x".repeat(20_000) })
    const announced = await post(body)
    assert.strictEqual(announced.status, 400)
    assert.strictEqual(announced.json.error.message, "The body is too large")

    const stream = new Blob([body]).stream()
    const response = await fetch(`${server.listening.url}/v1/events`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${server.token}` },
      body: stream,
      duplex: "half"
    })
    assert.strictEqual(response.status, 400)
  })
})

describe("lists", () => {
  const lists = ["/v1/projects", "/v1/builds", "/v1/events", "/v1/runs"]

  it("accept the limits themselves, and default to 20 and 0", async () => {
    for (const path of lists) {
      const { pagination } = (await server.call("GET", path)).json
      assert.strictEqual(pagination.limit, 20)
      assert.strictEqual(pagination.offset, 0)
      assert.strictEqual((await server.call("GET", `${path}?limit=1&offset=0`)).json.pagination.limit, 1)
      const beyond = (await server.call("GET", `${path}?limit=100&offset=1000000`)).json
      assert.deepStrictEqual(beyond.data, [])
      assert.strictEqual(beyond.pagination.offset, 1_000_000)
      assert.isFalse(beyond.pagination.has_more)
    }
  })

  it("have has_more", async () => {
    for (const name of ["page-a", "page-b", "page-c"]) {
      await server.call("POST", "/v1/projects", { json: { name } })
    }
    const first = (await server.call("GET", "/v1/projects?limit=2")).json
    assert.deepStrictEqual(
      first.data.map((project: { name: string }) => project.name),
      ["page-c", "page-b"]
    )
    assert.deepStrictEqual(first.pagination, { total: 3, limit: 2, offset: 0, has_more: true })
    const last = (await server.call("GET", "/v1/projects?limit=2&offset=2")).json
    assert.strictEqual(last.data.length, 1)
    assert.isFalse(last.pagination.has_more)
  })
})

describe("a large JSON body", () => {
  let large: TestServer
  beforeAll(async () => {
    large = await TestServer.start()
  })
  afterAll(() => large.close())
  const post = (body: string) => large.call("POST", "/v1/events", { body, headers: json })

  it("returns 400 without the position if it is long, because the search would delay other requests", async () => {
    const reply = await post(`[${"1,".repeat(20_000)}x`)
    assert.strictEqual(reply.status, 400)
    assert.strictEqual(reply.json.error.message, "The body must be a JSON object")
  })

  it("returns 400 before it is parsed if it is nested too deeply for the parser", async () => {
    const reply = await post(`{"event_type":"a","event_data":${"[".repeat(15_000)}${"]".repeat(15_000)}}`)
    assert.strictEqual(reply.status, 400)
    assert.strictEqual(reply.json.error.message, "The body must not be nested deeper than 500 levels")
  })
})
