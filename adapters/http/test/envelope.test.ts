import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes: 10_000 })
})
afterAll(() => server.close())

const json = { "content-type": "application/json" }

describe("every answer", () => {
  it("has a fresh request id, whatever the client sends", async () => {
    const ids = new Set<string | null>()
    for (const path of ["/v1/status", "/v1/projects", "/v1/nothing", "/webhook/a/b/c/d", "/healthz", "/elsewhere"]) {
      const reply = await server.call("GET", path, { headers: { "x-request-id": "mine" } })
      ids.add(reply.headers.get("x-request-id"))
    }
    assert.strictEqual(ids.size, 6)
    assert.isFalse(ids.has("mine"))
  })

  it("to an unknown route or another method is 404 not_found", async () => {
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/v1"],
      ["GET", "/v1/nothing"],
      ["PUT", "/v1/projects"],
      ["POST", "/v1/status"],
      ["OPTIONS", "/v1/projects"],
      ["GET", "/V1/projects"],
      ["GET", "/v1/Projects"],
      ["GET", "//v1/projects"],
      ["GET", "/v1/projects//builds"],
      ["GET", "/v1/projects/"],
      ["DELETE", "/v1/sessions/"],
      ["PATCH", "/admin/orgs"],
      ["GET", "/v1/projects/%E0%A4%A"]
    ] as const) {
      const reply = await server.call(method, path)
      assert.strictEqual(reply.status, 404, `${method} ${path}`)
      assert.strictEqual(reply.json.error.code, "not_found")
    }
  })

  it("to HEAD is that to GET without a body", async () => {
    const reply = await server.call("HEAD", "/v1/projects")
    assert.strictEqual(reply.status, 200)
    assert.strictEqual(reply.text, "")
  })
})

describe("credentials", () => {
  it("that are missing or wrong are 401, before anything else is looked at", async () => {
    const [, id] = /^svc_([^_]+)_/.exec(server.token) ?? []
    const wrong = [
      null,
      "",
      "nonsense",
      "svc_",
      `svc_${id}_wrong`,
      `svc_01890000-0000-7000-8000-000000000000_${"x".repeat(43)}`,
      `${server.token}x`
    ]
    for (const token of wrong) {
      const reply = await server.call("POST", "/v1/projects?limit=nonsense", { token, body: "{", headers: json })
      assert.strictEqual(reply.status, 401, String(token))
      assert.strictEqual(reply.json.error.code, "unauthorized")
      assert.strictEqual(reply.headers.get("www-authenticate"), "Bearer")
    }
  })

  it("are taken with the scheme in any case", async () => {
    const reply = await server.call("GET", "/v1/env", {
      token: null,
      headers: { authorization: `bearer ${server.token}` }
    })
    assert.strictEqual(reply.status, 200)
  })

  it("are not asked for by the open routes", async () => {
    for (const path of ["/v1/status", "/v1/openapi.json", "/healthz", "/readyz"]) {
      assert.strictEqual((await server.call("GET", path, { token: null })).status, 200, path)
    }
  })
})

describe("a JSON body", () => {
  const post = (body: string, headers: Record<string, string> = json) =>
    server.call("POST", "/v1/events", { body, headers })

  it("that is malformed is 400 with the position", async () => {
    const reply = await post('{"event_type": "a",\n "event_data": secret}')
    assert.strictEqual(reply.status, 400)
    assert.strictEqual(reply.json.error.message, "The body is not JSON: line 2, column 16")
  })

  it("that is not an object is 400", async () => {
    for (const body of ["", "[]", '"secret"', "null", "7"]) {
      const reply = await post(body)
      assert.strictEqual(reply.status, 400, body)
      assert.strictEqual(reply.json.error.code, "bad_request")
      assert.strictEqual(reply.json.error.message, "The body must be a JSON object")
    }
  })

  it("with a missing or wrong field is 400 naming it, never quoting it", async () => {
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

  it("is 400 when it is nested without end", async () => {
    const nested = (levels: number) => `{"event_type":"a","event_data":${"[".repeat(levels)}${"]".repeat(levels)}}`
    assert.strictEqual((await post(nested(500))).status, 201)
    for (const levels of [501, 4900]) {
      const reply = await post(nested(levels))
      assert.strictEqual(reply.status, 400)
      assert.strictEqual(reply.json.error.message, "event_data: must not be nested deeper than 500 levels")
    }
  })

  it("may have fields that nobody asked for", async () => {
    const reply = await post(JSON.stringify({ event_type: "a", event_data: null, extra: 1 }))
    assert.strictEqual(reply.status, 201)
  })

  it("above the limit is 400, announced or not", async () => {
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

  it("of another content type is 400", async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const reply = await post('{"event_type":"a","event_data":1}', { "content-type": type })
      assert.strictEqual(reply.status, 400, type)
      assert.strictEqual(reply.json.error.code, "bad_request")
    }
  })
})

describe("lists", () => {
  const lists = ["/v1/projects", "/v1/builds", "/v1/events", "/v1/runs"]

  it("refuse a limit outside of 1 to 100 and a negative offset, naming them", async () => {
    for (const path of lists) {
      for (const limit of ["0", "101", "-1", "1.5", "ten", "", "1e1", "%201"]) {
        const reply = await server.call("GET", `${path}?limit=${limit}`)
        assert.strictEqual(reply.status, 400, limit)
        assert.match(reply.json.error.message, /^limit: /)
      }
      for (const offset of ["-1", "x", "1.5", ""]) {
        const reply = await server.call("GET", `${path}?offset=${offset}`)
        assert.strictEqual(reply.status, 400, offset)
        assert.match(reply.json.error.message, /^offset: /)
      }
    }
    assert.strictEqual((await server.call("GET", "/v1/projects?limit=1&limit=2")).status, 400)
  })

  it("take the bounds themselves, and 20 and 0 if nothing is said", async () => {
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

  it("tell whether there is more", async () => {
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
