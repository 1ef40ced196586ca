import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { refused } from "./conformance/Fields.ts"
import { nowhere } from "./server/GoodRequests.ts"
import { adminToken, type CallOptions, type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const create = (json: unknown, token = server.token): Promise<Reply> =>
  server.call("POST", "/v1/sessions", { json, token })

const created = async (json: unknown, token = server.token) => {
  const reply = await create(json, token)
  assert.strictEqual(reply.status, 201, reply.text)
  return reply.json.data
}

const full = { "*:*": ["*"] }
const freshKey = async (permissions: unknown = full) => (await server.key(permissions)).token

describe("POST /sessions", () => {
  it("answers 201 with the session and, only here, its token", async () => {
    const permissions = { "event:*": ["create", "read"] }
    const before = Date.now()
    const data = await created({ permissions, metadata: { customer: "c-17" }, expires_in: 120 })
    assert.hasAllKeys(data, ["session_id", "token", "permissions", "metadata", "expires_at", "created_at"])
    assert.match(data.token, new RegExp(`^s_${data.session_id}_[A-Za-z0-9_-]{32,}$`))
    assert.deepStrictEqual(data.permissions, permissions)
    assert.deepStrictEqual(data.metadata, { customer: "c-17" })
    assert.match(data.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.isAtLeast(Date.parse(data.created_at), before)
    assert.strictEqual(Date.parse(data.expires_at) - Date.parse(data.created_at), 120_000)
    const listed = await server.call("GET", "/v1/sessions")
    assert.include(listed.text, data.session_id)
    assert.notInclude(listed.text, data.token)
    assert.notInclude(listed.text, "secret_hash")
  })

  it("gives an hour and no metadata if nothing else is said, and turns ctx into context", async () => {
    const data = await created({ permissions: { "ctx:*": ["read"] } })
    assert.strictEqual(Date.parse(data.expires_at) - Date.parse(data.created_at), 3_600_000)
    assert.isNull(data.metadata)
    assert.deepStrictEqual(data.permissions, { "context:*": ["read"] })
  })

  it("refuses a body that is none, naming the field", async () => {
    for (const [json, field] of [
      [{}, "permissions"],
      [{ permissions: null }, "permissions"],
      [{ permissions: "all" }, "permissions"],
      [{ permissions: { event: ["read"] } }, '"event": invalid resource'],
      [{ permissions: { "mcp:*": ["create"] } }, '"mcp:*": action not valid for resource'],
      [{ permissions: {}, expires_in: 0 }, "expires_in"],
      [{ permissions: {}, expires_in: -5 }, "expires_in"],
      [{ permissions: {}, expires_in: 1.5 }, "expires_in"],
      [{ permissions: {}, expires_in: "60" }, "expires_in"],
      [{ permissions: {}, expires_in: null }, "expires_in"],
      [{ permissions: {}, expires_in: 86_401 }, "expires_in"],
      [{ permissions: {}, metadata: "x".repeat(65_536) }, "metadata"]
    ] as const) {
      assert.include(refused(await create(json), 400, "bad_request"), field)
    }
    assert.strictEqual((await create({ permissions: {}, expires_in: 86_400, unknown: 1 })).status, 201)
  })

  it("keeps any JSON as metadata", async () => {
    const token = await freshKey()
    const values = [0, false, "", [], {}, { "": [null] }, ["\u0000 \ud83e\uddf5", { constructor: 1, a: { b: 1e300 } }]]
    for (const metadata of values) {
      assert.deepStrictEqual((await created({ permissions: {}, metadata }, token)).metadata, metadata)
    }
    const { data } = (await server.call("GET", "/v1/sessions", { token })).json
    assert.deepStrictEqual(
      data.map((session: { metadata: unknown }) => session.metadata),
      values.toReversed()
    )
  })

  it("refuses what the creating key does not hold as permission_escalation, whatever else is wrong", async () => {
    const token = await freshKey({ "session:*": ["create"], "event:order": ["read"], "*:*": ["execute"] })
    for (const permissions of [
      full,
      { "event:*": ["read"] },
      { "event:order": ["*"] },
      { "session:*": ["create", "read"] }
    ]) {
      refused(await create({ permissions, expires_in: 0 }, token), 403, "permission_escalation")
    }
    for (const permissions of [{ "event:order": ["read"] }, { "*:*": ["execute"] }, { "mcp:*": ["*"] }, {}]) {
      assert.strictEqual((await create({ permissions }, token)).status, 201)
    }
  })

  it("answers 429 session_limit_exceeded at a thousand active sessions, and 201 when one is gone", async () => {
    const token = await freshKey()
    const ids: Array<string> = []
    for (let round = 0; round < 20; round++) {
      const made = await Promise.all(Array.from({ length: 50 }, () => created({ permissions: {} }, token)))
      ids.push(...made.map((session) => session.session_id))
    }
    assert.include(refused(await create({ permissions: {} }, token), 429, "session_limit_exceeded"), "1000")
    assert.strictEqual((await server.call("DELETE", `/v1/sessions/${ids[0]}`, { token })).status, 204)
    await created({ permissions: {} }, token)
    refused(await create({ permissions: {} }, token), 429, "session_limit_exceeded")
    await created({ permissions: {} })
    const revoked = await server.call("DELETE", "/v1/sessions", { token })
    assert.deepStrictEqual(revoked.json.data, { revoked_count: 1000 })
  })
})

describe("a session", () => {
  it("does what its permissions say, in its environment, until it is revoked", async () => {
    const { token, session_id } = await created({ permissions: { "project:*": ["read"] } })
    assert.strictEqual((await server.call("GET", "/v1/projects", { token })).status, 200)
    refused(await server.call("POST", "/v1/projects", { token, json: { name: "no" } }), 403, "forbidden")
    refused(await server.call("GET", "/v1/env", { token }), 403, "forbidden")
    assert.strictEqual((await server.call("DELETE", `/v1/sessions/${session_id}`)).status, 204)
    refused(await server.call("GET", "/v1/projects", { token }), 401, "unauthorized")
  })

  it("expires", async () => {
    const { token } = await created({ permissions: full, expires_in: 1 })
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 1050))
    refused(await server.call("GET", "/v1/env", { token }), 401, "unauthorized")
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
    await change({ permissions: full })
    assert.strictEqual(await status(), 200)
    assert.strictEqual((await server.call("DELETE", path, { token: adminToken })).status, 204)
    assert.strictEqual(await status(), 401)
  })

  it("cannot touch sessions or service keys, whatever it holds", async () => {
    const session = await created({ permissions: full })
    const { token } = session
    for (const [method, path, options] of [
      ["POST", "/v1/sessions", { json: { permissions: {} } }],
      ["POST", "/v1/sessions", { body: "{", headers: { "content-type": "application/json" } }],
      ["POST", "/v1/sessions", { json: { permissions: { event: 1 } } }],
      ["GET", "/v1/sessions", {}],
      ["GET", "/v1/sessions?limit=0", {}],
      ["DELETE", `/v1/sessions/${session.session_id}`, {}],
      ["DELETE", "/v1/sessions", {}],
      ["POST", "/v1/service-keys", { json: { permissions: {} } }],
      ["GET", "/v1/service-keys", {}],
      ["GET", `/v1/service-keys/${nowhere}`, {}],
      ["DELETE", `/v1/service-keys/${nowhere}`, {}],
      ["DELETE", "/v1/service-keys", {}]
    ] as const satisfies ReadonlyArray<readonly [string, string, CallOptions]>) {
      refused(await server.call(method, path, { token, ...options }), 403, "forbidden")
    }
  })
})

describe("lists and revocations", () => {
  it("are about the active sessions of the calling key", async () => {
    const [mine, other] = [await freshKey(), await freshKey()]
    const first = await created({ permissions: {} }, mine)
    const second = await created({ permissions: {} }, mine)
    const third = await created({ permissions: {} }, mine)
    const foreign = await created({ permissions: full }, other)
    const page = await server.call("GET", "/v1/sessions?limit=2", { token: mine })
    const { token: _, ...shown } = third
    assert.deepStrictEqual(page.json.data[0], shown)
    assert.strictEqual(page.json.data[1].session_id, second.session_id)
    assert.deepStrictEqual(page.json.pagination, { total: 3, limit: 2, offset: 0, has_more: true })

    for (const id of [foreign.session_id, nowhere, "nonsense"]) {
      refused(await server.call("DELETE", `/v1/sessions/${id}`, { token: mine }), 404, "not_found")
    }
    const revoke = () => server.call("DELETE", `/v1/sessions/${first.session_id.toUpperCase()}`, { token: mine })
    const gone = await revoke()
    assert.deepStrictEqual([gone.status, gone.text], [204, ""])
    refused(await revoke(), 404, "not_found")
    const all = await server.call("DELETE", "/v1/sessions", { token: mine })
    assert.strictEqual(all.status, 200)
    assert.deepStrictEqual(all.json.data, { revoked_count: 2 })
    assert.deepStrictEqual((await server.call("DELETE", "/v1/sessions", { token: mine })).json.data, {
      revoked_count: 0
    })
    refused(await server.call("GET", "/v1/env", { token: third.token }), 401, "unauthorized")
    assert.strictEqual((await server.call("GET", "/v1/env", { token: foreign.token })).status, 200)
  })

  it("judge the credential first, then the permission, then the shape", async () => {
    const broken = { body: "{", headers: { "content-type": "application/json" } }
    refused(await server.call("POST", "/v1/sessions", { token: null, ...broken }), 401, "unauthorized")
    const reader = await freshKey({ "session:*": ["read"], "session:x": ["create"] })
    refused(await server.call("POST", "/v1/sessions", { token: reader, ...broken }), 403, "forbidden")
    refused(await server.call("POST", "/v1/sessions", broken), 400, "bad_request")
    refused(await server.call("GET", "/v1/sessions?offset=-1", { token: reader }), 400, "bad_request")
  })
})
