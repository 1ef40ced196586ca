import { assert, describe, it } from "@effect/vitest"
import { type NeedKey, needs } from "@weft/api"
import { afterAll, beforeAll } from "vitest"
import { type CallOptions, type Reply, TestServer, uploadForm } from "./server/TestServer.ts"

let server: TestServer
let build: string
let event: string
let run: string

beforeAll(async () => {
  server = await TestServer.start()
  build = (await server.deploy("shop", "shop")).build_id
  const published = await server.call("POST", "/v1/events", {
    json: { event_type: "order:created", event_data: { total: 1 } }
  })
  event = published.json.data.event_id
  while (run === undefined) run = (await server.call("GET", `/v1/events/${event}/runs`)).json.data[0]?.run_id
})
afterAll(() => server.close())

interface Case {
  readonly method: string
  readonly path: () => string
  readonly options?: () => CallOptions
  /** Makes each of the good requests possible. */
  readonly before?: () => Promise<unknown>
  readonly status: number
  /** A permission path that covers exactly this request; `*` where there is no other. */
  readonly exact: string
}

const get = (path: () => string, exact: string, status = 200): Case => ({ method: "GET", path, exact, status })

/** One good request for every endpoint that needs a permission. */
const cases: Readonly<Record<NeedKey, Case>> = {
  "projects.list": get(() => "/v1/projects", "shop"),
  "projects.create": {
    method: "POST",
    path: () => "/v1/projects",
    options: () => ({ json: { name: "made" } }),
    before: () => server.call("DELETE", "/v1/projects/made"),
    exact: "made",
    status: 201
  },
  "projects.get": get(() => "/v1/projects/shop", "shop"),
  "projects.update": {
    method: "PATCH",
    path: () => "/v1/projects/shop",
    options: () => ({ json: { name: "shop" } }),
    exact: "shop",
    status: 200
  },
  "projects.remove": {
    method: "DELETE",
    path: () => "/v1/projects/gone",
    before: () => server.call("POST", "/v1/projects", { json: { name: "gone" } }),
    exact: "gone",
    status: 204
  },
  "builds.listAll": get(() => "/v1/builds", "shop"),
  "builds.list": get(() => "/v1/projects/shop/builds", "shop"),
  "builds.upload": {
    method: "POST",
    path: () => "/v1/projects/shop/builds",
    options: () => ({ body: uploadForm("shop") }),
    exact: "shop",
    status: 201
  },
  "builds.deployed": get(() => "/v1/projects/shop/builds/deployed", "shop"),
  "builds.live": get(() => "/v1/projects/shop/builds/live", "shop", 404),
  "builds.get": get(() => `/v1/projects/shop/builds/${build}`, "shop"),
  "builds.download": get(() => `/v1/projects/shop/builds/${build}/download`, "shop"),
  "builds.deploy": {
    method: "POST",
    path: () => `/v1/projects/shop/builds/${build}/deploy`,
    exact: "shop",
    status: 200
  },
  "triggers.eventHandlers": get(() => "/v1/projects/shop/event-handlers", "shop"),
  "triggers.schedules": get(() => "/v1/projects/shop/schedules", "shop"),
  "context.list": get(() => "/v1/projects/shop/context", "shop"),
  "context.create": {
    method: "POST",
    path: () => "/v1/projects/shop/context",
    options: () => ({ json: { key: "MADE", value: "v" } }),
    before: () => server.call("DELETE", "/v1/projects/shop/context/MADE"),
    exact: "shop",
    status: 201
  },
  "context.update": {
    method: "PUT",
    path: () => "/v1/projects/shop/context/KEPT",
    options: () => ({ json: { value: "v" } }),
    before: () => server.call("POST", "/v1/projects/shop/context", { json: { key: "KEPT", value: "v" } }),
    exact: "shop",
    status: 200
  },
  "context.remove": {
    method: "DELETE",
    path: () => "/v1/projects/shop/context/GONE",
    before: () => server.call("POST", "/v1/projects/shop/context", { json: { key: "GONE", value: "v" } }),
    exact: "shop",
    status: 204
  },
  "events.publish": {
    method: "POST",
    path: () => "/v1/events",
    options: () => ({ json: { event_type: "order:created", event_data: { total: 1 } } }),
    exact: "order:created",
    status: 201
  },
  "events.list": get(() => "/v1/events", "order:created"),
  "events.get": get(() => `/v1/events/${event}`, "order:created"),
  "events.runs": get(() => `/v1/events/${event}/runs`, "shop"),
  "runs.list": get(() => "/v1/runs", "shop"),
  "runs.stats": get(() => "/v1/runs/stats", "shop"),
  "runs.get": get(() => `/v1/runs/${run}`, "shop"),
  "runs.logs": get(() => `/v1/runs/${run}/logs`, "shop"),
  "runs.usage": get(() => `/v1/runs/${run}/usage`, "shop"),
  "env.get": get(() => "/v1/env", "*")
}

const call = ({ method, path, options }: Case, token: string | null): Promise<Reply> =>
  server.call(method, path(), { ...options?.(), token })

const keys = Object.keys(needs) as ReadonlyArray<NeedKey>

describe("every endpoint", () => {
  for (const key of keys) {
    const { type, action } = needs[key]
    it(`${key} needs ${type}: ${action}, and no more`, async () => {
      const test = cases[key]
      assert.strictEqual((await call(test, null)).status, 401)

      const nothing = await call(test, (await server.key({})).token)
      assert.strictEqual(nothing.status, 403)
      assert.strictEqual(nothing.json.error.code, "forbidden")
      assert.include(nothing.json.error.message, `${type}:`)

      const { token: wrongType } = await server.key({ [type === "build" ? "run:*" : "build:*"]: ["*"], "mcp:*": ["*"] })
      assert.strictEqual((await call(test, wrongType)).status, 403)

      for (const path of ["*", test.exact]) {
        await test.before?.()
        const reply = await call(test, (await server.key({ [`${type}:${path}`]: [action] })).token)
        assert.strictEqual(reply.status, test.status, `${type}:${path} ${reply.text}`)
      }
    })
  }
})

describe("permissions on something else", () => {
  const on = async (map: Record<string, ReadonlyArray<string>>) => (await server.key(map)).token

  it("are 403 where the request names what it wants", async () => {
    const token = await on({ "project:other": ["*"], "build:other": ["*"], "event:other": ["*"] })
    for (const [method, path, options] of [
      ["GET", "/v1/projects/shop", {}],
      ["POST", "/v1/projects", { json: { name: "new" } }],
      ["GET", "/v1/projects/shop/builds", {}],
      ["GET", `/v1/projects/shop/builds/${build}`, {}],
      ["POST", "/v1/events", { json: { event_type: "order:created", event_data: 1 } }]
    ] as const) {
      assert.strictEqual((await server.call(method, path, { token, ...options })).status, 403, path)
    }
  })

  it("are 404 where the resource must be loaded to know", async () => {
    const token = await on({ "event:other": ["read"], "run:other": ["read"] })
    assert.strictEqual((await server.call("GET", `/v1/events/${event}`, { token })).status, 404)
    assert.strictEqual((await server.call("GET", `/v1/runs/${run}`, { token })).status, 404)
  })

  it("leave lists empty", async () => {
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
  it("learns that before the shape of the request is judged", async () => {
    const { token } = await server.key({ "mcp:*": ["execute"] })
    const { token: elsewhere } = await server.key({ "build:other": ["*"], "project:other": ["*"] })
    const broken = { body: "{", headers: { "content-type": "application/json" } }
    assert.strictEqual((await server.call("POST", "/v1/projects", { token, ...broken })).status, 403)
    assert.strictEqual((await server.call("GET", "/v1/runs?limit=x", { token })).status, 403)
    assert.strictEqual((await server.call("GET", "/v1/projects/shop/builds?limit=x", { token: elsewhere })).status, 403)
    assert.strictEqual((await server.call("PATCH", "/v1/projects/shop", { token: elsewhere, ...broken })).status, 403)
    assert.strictEqual((await server.call("POST", "/v1/projects/none/builds", { token, ...broken })).status, 403)
  })

  it("with it learns of the shape before of existence", async () => {
    const broken = { body: "{", headers: { "content-type": "application/json" } }
    assert.strictEqual((await server.call("PATCH", "/v1/projects/none", broken)).status, 400)
    assert.strictEqual((await server.call("GET", "/v1/projects/none/builds?limit=x")).status, 400)
  })
})
