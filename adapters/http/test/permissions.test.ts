import { assert, describe, it } from "@effect/vitest"
import { type EndpointPermission, type PermittedEndpoint, permittedEndpoints } from "@weft/api"
import { validActions } from "@weft/core/adapter"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import type { GoodRequest, Made } from "./server/GoodRequest.ts"
import { actingAs, goodRequests } from "./server/GoodRequests.ts"
import { type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer
let made: Made
let requests: Readonly<Record<PermittedEndpoint, GoodRequest>>

beforeAll(async () => {
  server = await TestServer.start()
  const { build_id: build } = await server.deploy("shop", "shop")
  const published = await server.call("POST", "/v1/events", {
    json: { event_type: "order:created", event_data: { total: 1 } }
  })
  const event = published.json.data.event_id
  let run: string | undefined
  while (run === undefined) run = (await server.call("GET", `/v1/events/${event}/runs`)).json.data[0]?.run_id
  made = { build, event, run, stream: published.json.data.stream_id }
  requests = goodRequests(server, made)
})
afterAll(() => server.close())

const call = ({ method, path, options }: GoodRequest, token: string | null): Promise<Reply> =>
  server.call(method, path(), { ...options?.(), token })

const endpoints = [...permittedEndpoints()] as ReadonlyArray<readonly [PermittedEndpoint, EndpointPermission]>

describe("every endpoint", () => {
  for (const [key, { type, action, or, callers }] of endpoints) {
    it(`${key} requires exactly ${type}: ${action}`, async () => {
      const request = requests[key]
      assert.strictEqual((await call(request, null)).status, 401)

      const nothing = await call(request, (await server.key({})).token)
      assert.strictEqual(nothing.status, 403)
      assert.strictEqual(nothing.json.error.code, "forbidden")
      assert.include(nothing.json.error.message, `${type}:`)

      const { token: wrongType } = await server.key({ [type === "build" ? "run:*" : "build:*"]: ["*"], "mcp:*": ["*"] })
      assert.strictEqual((await call(request, wrongType)).status, 403)

      const others = validActions[type].filter((other) => other !== action && other !== or)
      if (others.length > 0) {
        const { token: wrongAction } = await server.key({ [`${type}:*`]: others })
        assert.strictEqual((await call(request, wrongAction)).status, 403)
      }

      for (const path of ["*", request.exact]) {
        const { key: apiKey, token } = await server.key({ [`${type}:${path}`]: [action], ...request.besides })
        await request.before?.(apiKey, token)
        const reply = await call(request, token)
        assert.strictEqual(reply.status, request.status, `${type}:${path} ${reply.text}`)
      }
    })

    it(`${key} ${callers === undefined ? "accepts" : "rejects"} a service key and a session with the permission`, async () => {
      const request = requests[key]
      const { key: apiKey } = await server.key({ "*:*": ["*"] })
      const permissions = { [`${type}:${request.exact}`]: [action], ...request.besides }
      const { token: serviceKey } = await actingAs(server, apiKey).serviceKey({ permissions })
      const { token: session } = await actingAs(server, apiKey).session({ permissions })
      for (const token of [serviceKey, session]) {
        await request.before?.(apiKey, Redacted.value(token))
        const reply = await call(request, Redacted.value(token))
        assert.strictEqual(reply.status, callers === undefined ? request.status : 403, reply.text)
        if (callers !== undefined) assert.strictEqual(reply.json.error.code, "forbidden")
      }
    })
  }
})

describe("permissions on another resource", () => {
  const on = async (map: Record<string, ReadonlyArray<string>>) => (await server.key(map)).token

  it("are 403 if the request names the resource", async () => {
    const token = await on({ "project:other": ["*"], "build:other": ["*"], "event:other": ["*"] })
    for (const [method, path, options] of [
      ["GET", "/v1/projects/shop", {}],
      ["POST", "/v1/projects", { json: { name: "new" } }],
      ["GET", "/v1/projects/shop/builds", {}],
      ["GET", `/v1/projects/shop/builds/${made.build}`, {}],
      ["POST", "/v1/events", { json: { event_type: "order:created", event_data: 1 } }]
    ] as const) {
      assert.strictEqual((await server.call(method, path, { token, ...options })).status, 403, path)
    }
  })

  it("are 404 if the resource must be loaded for the check", async () => {
    const token = await on({ "event:other": ["read"], "run:other": ["read"] })
    assert.strictEqual((await server.call("GET", `/v1/events/${made.event}`, { token })).status, 404)
    assert.strictEqual((await server.call("GET", `/v1/runs/${made.run}`, { token })).status, 404)
  })

  it("result in empty lists", async () => {
    const token = await on({
      "project:other": ["read"],
      "build:other": ["read"],
      "event:x": ["read"],
      "run:x": ["read"]
    })
    for (const path of ["projects", "builds", "events", "runs"]) {
      const { data, pagination } = (await server.call("GET", `/v1/${path}`, { token })).json
      assert.deepStrictEqual(data, [])
      assert.strictEqual(pagination.total, 0)
    }
  })
})

describe("a caller without the permission", () => {
  it("gets 403 before the request is validated", async () => {
    const { token } = await server.key({ "mcp:*": ["execute"] })
    const { token: elsewhere } = await server.key({ "build:other": ["*"], "project:other": ["*"] })
    const broken = { body: "{", headers: { "content-type": "application/json" } }
    assert.strictEqual((await server.call("POST", "/v1/projects", { token, ...broken })).status, 403)
    assert.strictEqual((await server.call("GET", "/v1/runs?limit=x", { token })).status, 403)
    assert.strictEqual((await server.call("GET", "/v1/projects/shop/builds?limit=x", { token: elsewhere })).status, 403)
    assert.strictEqual((await server.call("PATCH", "/v1/projects/shop", { token: elsewhere, ...broken })).status, 403)
    assert.strictEqual((await server.call("POST", "/v1/projects/none/builds", { token, ...broken })).status, 403)
  })

  it("gets 400 for an invalid request before 404 once it has the permission", async () => {
    const broken = { body: "{", headers: { "content-type": "application/json" } }
    assert.strictEqual((await server.call("PATCH", "/v1/projects/none", broken)).status, 400)
    assert.strictEqual((await server.call("GET", "/v1/projects/none/builds?limit=x")).status, 400)
  })
})
