import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { refused } from "./conformance/Fields.ts"
import { nowhere } from "./server/GoodRequests.ts"
import { adminToken, type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const create = (json: unknown, token = server.token): Promise<Reply> =>
  server.call("POST", "/v1/service-keys", { json, token })

const created = async (json: unknown, token = server.token) => {
  const reply = await create(json, token)
  assert.strictEqual(reply.status, 201, reply.text)
  return reply.json.data
}

const full = { "*:*": ["*"] }
const freshKey = async (permissions: unknown = full) => (await server.key(permissions)).token

describe("POST /service-keys", () => {
  it("answers 201 with the key and, only here, its token", async () => {
    const permissions = { "mcp:*": ["execute"] }
    const data = await created({ name: "CI", description: "Builds", permissions, metadata: { team: 7 } })
    assert.include(data, { name: "CI", description: "Builds", expires_at: null, revoked_at: null, active: true })
    assert.match(data.token, new RegExp(`^${data.service_key_id}_[A-Za-z0-9_-]{32,}$`))
    assert.deepStrictEqual([data.permissions, data.metadata], [permissions, { team: 7 }])
    const { token, ...shown } = data
    assert.hasAllKeys(shown, [
      "service_key_id",
      "name",
      "description",
      "permissions",
      "metadata",
      "expires_at",
      "revoked_at",
      "active",
      "created_at"
    ])
    const got = await server.call("GET", `/v1/service-keys/${data.service_key_id}`)
    assert.deepStrictEqual(got.json.data, shown)
    const listed = await server.call("GET", "/v1/service-keys")
    assert.deepStrictEqual(listed.json.data[0], shown)
    for (const { text } of [got, listed]) {
      assert.notInclude(text, token)
      assert.notInclude(text, "secret_hash")
    }
  })

  it("needs nothing but permissions; null is no end", async () => {
    const data = await created({ permissions: {}, expires_in: null })
    assert.include(data, { name: "", description: "", metadata: null, expires_at: null })
    const limited = await created({ permissions: {}, expires_in: 60 })
    assert.strictEqual(Date.parse(limited.expires_at) - Date.parse(limited.created_at), 60_000)
    assert.strictEqual((await create({ permissions: {}, expires_in: 3_153_600_000 })).status, 201)
  })

  it("refuses a body that is none, naming the field", async () => {
    for (const [json, field] of [
      [{}, "permissions"],
      [{ permissions: [] }, "permissions"],
      [{ permissions: { "*": ["*"] } }, '"*": invalid resource'],
      [{ permissions: {}, name: 1 }, "name"],
      [{ permissions: {}, name: "n".repeat(129) }, "name"],
      [{ permissions: {}, description: "d".repeat(1025) }, "description"],
      [{ permissions: {}, expires_in: 0 }, "expires_in"],
      [{ permissions: {}, expires_in: 0.5 }, "expires_in"],
      [{ permissions: {}, expires_in: "never" }, "expires_in"],
      [{ permissions: {}, expires_in: 3_153_600_001 }, "expires_in"],
      [{ permissions: {}, metadata: "x".repeat(65_536) }, "metadata"]
    ] as const) {
      assert.include(refused(await create(json), 400, "bad_request"), field)
    }
  })

  it("refuses what the creating key does not hold as permission_escalation", async () => {
    const token = await freshKey({ "key:*": ["create"], "file:a/*": ["read"] })
    for (const permissions of [full, { "file:*": ["read"] }, { "file:a/b": ["read", "delete"] }]) {
      refused(await create({ permissions }, token), 403, "permission_escalation")
    }
    await created({ permissions: { "file:a/b/*": ["read"] } }, token)
  })
})

describe("a service key", () => {
  it("does what its permissions say, until it is revoked, and stays visible then", async () => {
    const { token, service_key_id: id } = await created({ permissions: { "project:*": ["read"] } })
    assert.strictEqual((await server.call("GET", "/v1/projects", { token })).status, 200)
    refused(await server.call("GET", "/v1/env", { token }), 403, "forbidden")
    assert.strictEqual((await server.call("DELETE", `/v1/service-keys/${id}`)).status, 204)
    refused(await server.call("GET", "/v1/projects", { token }), 401, "unauthorized")
    refused(await server.call("DELETE", `/v1/service-keys/${id}`), 404, "not_found")
    const { data } = (await server.call("GET", `/v1/service-keys/${id}`)).json
    assert.isFalse(data.active)
    assert.match(data.revoked_at, /Z$/)
  })

  it("expires, and stays visible then", async () => {
    const { token, service_key_id: id } = await created({ permissions: full, expires_in: 1 })
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 1050))
    refused(await server.call("GET", "/v1/env", { token }), 401, "unauthorized")
    const { data } = (await server.call("GET", `/v1/service-keys/${id}`)).json
    assert.deepStrictEqual([data.active, data.revoked_at], [false, null])
  })

  it("follows its API key: disabled, narrowed, removed", async () => {
    const { key, token: parent } = await server.key(full)
    const { token } = await created({ permissions: full }, parent)
    const path = `/admin/envs/${key.env_id}/api-keys/${key.api_key_id}`
    const change = (json: unknown) => server.call("PATCH", path, { token: adminToken, json })
    const status = async (at = "/v1/env") => (await server.call("GET", at, { token })).status
    assert.strictEqual(await status(), 200)
    await change({ enabled: false })
    assert.strictEqual(await status(), 401)
    await change({ enabled: true, permissions: { "project:*": ["read"] } })
    assert.deepStrictEqual([await status(), await status("/v1/projects")], [403, 200])
    await server.call("DELETE", path, { token: adminToken })
    assert.strictEqual(await status("/v1/projects"), 401)
  })
})

describe("lists and revocations", () => {
  it("are about the service keys of the calling key, revoked ones too", async () => {
    const [mine, other] = [await freshKey(), await freshKey()]
    const ids: Array<string> = []
    for (const name of ["a", "b", "c"]) ids.push((await created({ permissions: {}, name }, mine)).service_key_id)
    const foreign = await created({ permissions: full }, other)
    for (const id of [foreign.service_key_id, nowhere, "nonsense"]) {
      for (const method of ["GET", "DELETE"]) {
        refused(await server.call(method, `/v1/service-keys/${id}`, { token: mine }), 404, "not_found")
      }
    }
    await server.call("DELETE", `/v1/service-keys/${ids[1]}`, { token: mine })
    const page = await server.call("GET", "/v1/service-keys?limit=2&offset=1", { token: mine })
    assert.deepStrictEqual(
      page.json.data.map(({ name, active }: { name: string; active: boolean }) => [name, active]),
      [
        ["b", false],
        ["a", true]
      ]
    )
    assert.deepStrictEqual(page.json.pagination, { total: 3, limit: 2, offset: 1, has_more: false })
    const revoked = await server.call("DELETE", "/v1/service-keys", { token: mine })
    assert.strictEqual(revoked.status, 200)
    assert.deepStrictEqual(revoked.json.data, { revoked_count: 2 })
    const { data } = (await server.call("GET", "/v1/service-keys", { token: mine })).json
    assert.deepStrictEqual(
      data.map(({ active }: { active: boolean }) => active),
      [false, false, false]
    )
    assert.strictEqual((await server.call("GET", "/v1/env", { token: foreign.token })).status, 200)
  })

  it("are refused to service keys, whatever they hold", async () => {
    const { token, service_key_id: id } = await created({ permissions: full })
    for (const [method, path] of [
      ["POST", "/v1/service-keys"],
      ["GET", "/v1/service-keys"],
      ["GET", `/v1/service-keys/${id}`],
      ["DELETE", `/v1/service-keys/${id}`],
      ["DELETE", "/v1/service-keys"],
      ["POST", "/v1/sessions"],
      ["GET", "/v1/sessions"],
      ["DELETE", "/v1/sessions"]
    ] as const) {
      refused(await server.call(method, path, { token }), 403, "forbidden")
    }
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 200)
  })
})
