import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { adminToken, type CallOptions, type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const admin = (method: string, path: string, options: CallOptions = {}): Promise<Reply> =>
  server.call(method, `/admin${path}`, { token: adminToken, ...options })

const unknownId = "01890000-0000-7000-8000-000000000000"

describe("admin routes", () => {
  it("require the admin token", async () => {
    for (const token of [null, server.token, `${adminToken}x`, adminToken.slice(1)]) {
      const reply = await admin("GET", "/orgs", { token })
      assert.strictEqual(reply.status, 401)
      assert.strictEqual(reply.json.error.code, "unauthorized")
    }
    assert.strictEqual((await server.call("GET", "/v1/projects", { token: adminToken })).status, 401)
  })

  it("do not exist without an admin token", async () => {
    const closed = await TestServer.start({}, null)
    try {
      assert.strictEqual((await closed.call("GET", "/admin/orgs", { token: adminToken })).status, 404)
      assert.strictEqual((await closed.call("GET", "/admin/orgs", { token: null })).status, 404)
    } finally {
      await closed.close()
    }
  })

  it("create, list and change organizations", async () => {
    const created = await admin("POST", "/orgs", { json: { slug: "globex", name: "Globex", plan: "Pro" } })
    assert.strictEqual(created.status, 201)
    const org = created.json.data
    assert.deepStrictEqual(Object.keys(org).slice(0, 4), ["org_id", "slug", "name", "plan"])
    const listed = await admin("GET", "/orgs?limit=1")
    assert.deepStrictEqual(listed.json.data, [org])
    assert.strictEqual(listed.json.pagination.total, 2)
    for (const handle of [org.org_id, "globex"]) {
      const changed = await admin("PATCH", `/orgs/${handle}`, { json: { plan: "Scale", members: 3 } })
      assert.strictEqual(changed.status, 200)
      assert.include(changed.json.data, { plan: "Scale", members: 3, name: "Globex" })
    }
    assert.strictEqual((await admin("POST", "/orgs", { json: { slug: "globex" } })).status, 400)
    assert.strictEqual((await admin("POST", "/orgs", { json: { slug: "Not A Slug" } })).status, 400)
    assert.include((await admin("POST", "/orgs", { json: { slug: "a", plan: "Gold" } })).json.error.message, "plan")
    assert.strictEqual((await admin("PATCH", "/orgs/none", { json: {} })).status, 404)
  })

  it("create and list environments", async () => {
    const created = await admin("POST", "/orgs/acme/envs", { json: { name: "staging" } })
    assert.strictEqual(created.status, 201)
    assert.deepStrictEqual(Object.keys(created.json.data), ["env_id", "org_id", "name", "active"])
    const listed = await admin("GET", "/orgs/acme/envs")
    assert.deepStrictEqual(
      listed.json.data.map((env: { name: string }) => env.name),
      ["staging", "prod"]
    )
    assert.strictEqual((await admin("POST", "/orgs/acme/envs", { json: { name: "staging" } })).status, 400)
    assert.strictEqual((await admin("POST", "/orgs/none/envs", { json: { name: "x" } })).status, 404)
    assert.strictEqual((await admin("GET", "/orgs/none/envs")).status, 404)
  })

  it("create, list, change and delete API keys, and return the token once", async () => {
    const keys = `/envs/${server.env.env_id}/api-keys`
    const created = await admin("POST", keys, { json: { name: "reader", permissions: { "ctx:*": ["read"] } } })
    assert.strictEqual(created.status, 201)
    const { token, ...key } = created.json.data
    assert.match(token, /^svc_[0-9a-f-]{36}_.{20,}$/)
    assert.deepStrictEqual(key.permissions, { "context:*": ["read"] })
    const listed = await admin("GET", keys)
    assert.deepStrictEqual(listed.json.data[0], key)
    assert.notInclude(listed.text, token)
    assert.notInclude(listed.text, "secret_hash")

    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 403)
    const widened = await admin("PATCH", `${keys}/${key.api_key_id}`, { json: { permissions: { "env:*": ["*"] } } })
    assert.strictEqual(widened.status, 200)
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 200)
    const misspelled = await admin("PATCH", `${keys}/${key.api_key_id}`, { json: { name: "a", enable: false } })
    assert.strictEqual(misspelled.status, 400)
    assert.strictEqual(misspelled.json.error.message, "enable: is not a field of this request")
    await admin("PATCH", `${keys}/${key.api_key_id}`, { json: { enabled: false } })
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 401)
    assert.strictEqual((await admin("DELETE", `${keys}/${key.api_key_id}`)).status, 204)
    assert.strictEqual((await admin("DELETE", `${keys}/${key.api_key_id}`)).status, 404)
  })

  it("list the plans of the server with their limits", async () => {
    const { json } = await admin("GET", "/plans?limit=2")
    assert.strictEqual(json.pagination.total, 6)
    assert.deepStrictEqual(
      json.data.map(({ name }: { name: string }) => name),
      ["Free", "Starter"]
    )
    assert.strictEqual(json.data[0].limits.runs_per_month, 10_000)
  })

  it("show the usage of an organization as its own credentials see it", async () => {
    const own = await server.call("GET", "/v1/org/usage")
    for (const org of ["acme", server.env.org_id]) {
      assert.deepStrictEqual((await admin("GET", `/orgs/${org}/usage`)).json.data, own.json.data)
    }
    assert.strictEqual((await admin("GET", "/orgs/none/usage")).status, 404)
  })

  it("show the version and the metrics of the node, without histograms", async () => {
    const { version, start_time, metrics } = (await admin("GET", "/node")).json.data
    assert.isString(version)
    assert.isTrue(Date.parse(start_time) <= Date.now())
    const running = metrics.find(({ name }: { name: string }) => name === "weft_deliveries_running")
    assert.include(running, { type: "gauge", value: 0 })
    assert.isFalse(metrics.some(({ type }: { type: string }) => type === "histogram"))
  })

  it("lift the quarantine of a build, and add an entry to the audit log", async () => {
    const { build_id: build } = await server.deploy("shop", "shop")
    const path = (env: string, id: string) => `/envs/${env}/builds/${id}/release`
    assert.strictEqual((await admin("POST", path(server.env.env_id, build))).status, 204)
    const [entry] = (await admin("GET", "/audit?action=build.release")).json.data
    assert.include(entry, { actor_type: "admin", object_id: build, env_id: server.env.env_id })
    assert.strictEqual((await admin("POST", path(unknownId, build))).status, 404)
    assert.strictEqual((await admin("POST", path("nonsense", build))).status, 404)
    assert.strictEqual((await admin("POST", path(server.env.env_id, unknownId))).status, 404)
  })

  it("reject invalid permissions with the specification's messages, and unknown environments", async () => {
    const keys = `/envs/${server.env.env_id}/api-keys`
    const refused = await admin("POST", keys, { json: { permissions: { "mcp:*": ["create"] } } })
    assert.strictEqual(refused.status, 400)
    assert.include(refused.json.error.message, "mcp:*")
    assert.include(refused.json.error.message, "action not valid for resource")
    for (const env of [unknownId, "nonsense"]) {
      assert.strictEqual((await admin("GET", `/envs/${env}/api-keys`)).status, 404)
      assert.strictEqual((await admin("POST", `/envs/${env}/api-keys`, { json: {} })).status, 404)
      assert.strictEqual((await admin("DELETE", `/envs/${env}/api-keys/${unknownId}`)).status, 404)
    }
    assert.strictEqual((await admin("PATCH", `${keys}/nonsense`, { json: {} })).status, 404)
  })
})
