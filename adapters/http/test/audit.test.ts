import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import { Redacted } from "effect"
import { afterAll, beforeAll, vi } from "vitest"
import { refused } from "./conformance/Fields.ts"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const audit = async (query = "", token = server.token) => {
  const reply = await server.call("GET", `/v1/audit${query}`, { token })
  assert.strictEqual(reply.status, 200, reply.text)
  return reply.json.data
}

const admin = (method: string, path: string, json?: unknown): Promise<Reply> =>
  server.call(method, path, { token: adminToken, ...(json === undefined ? {} : { json }) })

/** Returns the newest entry that satisfies the predicate, and waits for it. */
const latest = (query: string, token = server.token) =>
  vi.waitFor(async () => {
    const [entry] = await audit(query, token)
    assert.isDefined(entry)
    return entry
  }, 5000)

const full = { "*:*": ["*"] }

/** Creates a key of an environment that no other test uses. */
const elsewhere = async (slug: string) => {
  const org = await admin("POST", "/admin/orgs", { slug })
  const env = await admin("POST", `/admin/orgs/${slug}/envs`, { name: "prod" })
  const key = await admin("POST", `/admin/envs/${env.json.data.env_id}/api-keys`, { name: "CI" })
  return { org: org.json.data, env: env.json.data, key: key.json.data, reply: key }
}

describe("the audit log", () => {
  it("records who created a session, from which address, with which request", async () => {
    const made = await server.call("POST", "/v1/sessions", { json: { permissions: { "event:*": ["read"] } } })
    const { session_id, expires_at, token } = made.json.data
    const entry = (await audit(`?object_id=${session_id}`))[0]
    const { audit_id, actor_id, created_at, ...rest } = entry
    assert.deepStrictEqual(rest, {
      env_id: server.env.env_id,
      action: "session.create",
      outcome: "done",
      count: 1,
      actor_type: "api-key",
      actor_api_key_id: null,
      object_id: session_id,
      object_name: null,
      details: { permissions: { "event:*": ["read"] }, expires_at },
      request_id: made.headers.get("x-request-id"),
      address: "127.0.0.1"
    })
    assert.include(server.token, actor_id)
    assert.notInclude(JSON.stringify(entry), token.slice(-20))
    assert.isTrue(audit_id.length === 36 && Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
  })

  it("records every change of credentials, secrets, domains and deployments", async () => {
    const { key } = await elsewhere("journal")
    const call = (method: string, path: string, json?: unknown) =>
      server.call(method, path, { token: key.token, ...(json === undefined ? {} : { json }) })
    const session = await call("POST", "/v1/sessions", { permissions: full })
    await call("DELETE", `/v1/sessions/${session.json.data.session_id}`)
    await call("DELETE", "/v1/sessions")
    const serviceKey = await call("POST", "/v1/service-keys", { permissions: full, name: "bot" })
    await call("DELETE", `/v1/service-keys/${serviceKey.json.data.service_key_id}`)
    await call("DELETE", "/v1/service-keys")
    await call("POST", "/v1/projects", { name: "shop" })
    await call("POST", "/v1/projects/shop/context", { key: "TOKEN", value: "a-secret-value" })
    await call("PUT", "/v1/projects/shop/context/TOKEN", { value: "another-secret-value" })
    await call("DELETE", "/v1/projects/shop/context/TOKEN")
    const build = await server.upload("shop", "shop", {}, { token: key.token })
    assert.strictEqual(build.status, 201, build.text)
    await call("POST", `/v1/projects/shop/builds/${build.json.data.build_id}/deploy`)
    await call("POST", `/v1/projects/shop/builds/${build.json.data.build_id}/release`)
    await server.upload("shop", "shop", { build_type: "live" }, { token: key.token })
    await call("DELETE", "/v1/projects/shop/builds/live")
    const domain = await call("POST", "/v1/domains", { domain: "journal.example.com" })
    await call("DELETE", `/v1/domains/${domain.json.data.domain_id}`)
    await call("DELETE", "/v1/projects/shop")

    const entries = await audit("?limit=100", key.token)
    assert.deepStrictEqual(
      entries
        .toReversed()
        .map((entry: { action: string; object_name: string | null }) =>
          [entry.action, entry.object_name].filter((part) => part !== null).join(" ")
        ),
      [
        "env.create prod",
        "api_key.create CI",
        "session.create",
        "session.revoke",
        "session.revoke_all",
        "service_key.create bot",
        "service_key.revoke",
        "service_key.revoke_all",
        "context.create TOKEN",
        "context.update TOKEN",
        "context.remove TOKEN",
        "build.deploy",
        "build.release",
        "build.go_live",
        "build.end_live",
        "domain.add journal.example.com",
        "domain.remove journal.example.com",
        "project.remove"
      ]
    )
    assert.notMatch(JSON.stringify(entries), /secret-value/)
  })

  it("omits actions that failed", async () => {
    const before = (await audit("?limit=100")).length
    for (const [method, path, json] of [
      ["POST", "/v1/sessions", { permissions: { "no:*": ["read"] } }],
      ["DELETE", "/v1/sessions/01890000-0000-7000-8000-000000000000", undefined],
      ["POST", "/v1/domains", { domain: "nothing" }],
      ["DELETE", "/v1/projects/nothing", undefined]
    ] as const) {
      const reply = await server.call(method, path, json === undefined ? {} : { json })
      assert.include([400, 404], reply.status)
    }
    assert.strictEqual((await audit("?limit=100")).length, before)
  })

  it("counts requests that lacked a permission", async () => {
    const { key, token } = await server.key({ "event:*": ["create"] })
    for (let n = 0; n < 5; n++) {
      const reply = await server.call("POST", "/v1/sessions", { token, json: { permissions: {} } })
      assert.strictEqual(reply.status, 403)
    }
    const query = `?outcome=refused&action=session.create&actor_id=${key.api_key_id}`
    await vi.waitFor(async () => {
      const entries: ReadonlyArray<{ count: number; address: string }> = await audit(query)
      assert.strictEqual(
        entries.reduce((sum, { count }) => sum + count, 0),
        5
      )
      assert.isAtMost(entries.length, 2)
      assert.strictEqual(entries[0]?.address, "127.0.0.1")
    }, 5000)
  })

  it("counts wrong credentials: those of an existing key for its environment, others for the host", async () => {
    const { key } = await elsewhere("guessed")
    await server.call("GET", "/v1/runs", { token: `svc_${key.api_key_id}_${"x".repeat(43)}` })
    assert.deepInclude(await latestOf(key.token), { actor_type: "api-key", actor_id: key.api_key_id, count: 1 })
    for (let n = 0; n < 30; n++) {
      await server.call("GET", "/v1/runs", { token: `svc_01890000-0000-7000-8000-0000000000${n + 10}_guess` })
    }
    await vi.waitFor(async () => {
      const { data } = (await admin("GET", "/admin/audit?action=authenticate&outcome=refused&limit=100")).json
      const unknown = data.filter((entry: { actor_type: string }) => entry.actor_type === "unknown")
      assert.strictEqual(
        unknown.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
        30
      )
      assert.isAtMost(unknown.length, 4)
      for (const entry of unknown) assert.deepInclude(entry, { env_id: null, actor_id: null, address: "127.0.0.1" })
    }, 5000)
  })

  it("records the request and address of a webhook with a wrong credential", async () => {
    const hook = Object.assign(() => "called", { meta: { webhook: { service: "s", path: "/hook", auth: "required" } } })
    const sandbox = trustedSandbox({ hooks: { main: { hook } } })
    const hooks = await TestServer.start({ adminToken: Redacted.make(adminToken) }, null, startWeft({ sandbox }))
    try {
      await hooks.deploy("hooks", "hooks")
      const token = "svc_01890000-0000-7000-8000-000000000099_guess"
      const rejected = await hooks.call("POST", `/webhook/acme/prod/s/hook`, { token })
      assert.strictEqual(rejected.status, 401)
      await vi.waitFor(async () => {
        const all = await hooks.call("GET", "/admin/audit?action=authenticate", { token: adminToken })
        const entry = all.json.data[0]
        assert.deepInclude(entry, { request_id: rejected.headers.get("x-request-id"), address: "127.0.0.1" })
      }, 5000)
    } finally {
      await hooks.close()
    }
  })

  it("counts wrong admin tokens", async () => {
    assert.strictEqual((await server.call("GET", "/admin/orgs", { token: "wrong" })).status, 401)
    await vi.waitFor(async () => {
      const { data } = (await admin("GET", "/admin/audit?action=authenticate&outcome=refused&limit=100")).json
      assert.isTrue(data.some((entry: { actor_type: string }) => entry.actor_type === "admin"))
    }, 5000)
  })

  it("shows an environment its own entries only, and the host all entries", async () => {
    const { org, env, key, reply } = await elsewhere("apart")
    const own = await audit("?limit=100", key.token)
    assert.isTrue(own.every((entry: { env_id: string }) => entry.env_id === env.env_id))
    assert.deepInclude(own[0], {
      action: "api_key.create",
      actor_type: "admin",
      actor_id: null,
      request_id: reply.headers.get("x-request-id"),
      object_id: key.api_key_id
    })
    assert.notInclude(JSON.stringify(await audit("?limit=100")), env.env_id)
    const all = await admin("GET", `/admin/audit?env_id=${env.env_id}&limit=100`)
    assert.deepStrictEqual(all.json.data, own)
    const created = await admin("GET", `/admin/audit?object_id=${org.org_id}`)
    assert.deepInclude(created.json.data[0], { action: "org.create", env_id: null, object_name: "apart" })
  })

  it("records changes by the host with the host as actor", async () => {
    const { weft, env } = server
    const { key } = await weft.apiKeys.create(env.env_id, { name: "by the host" })
    await weft.apiKeys.update(env.env_id, key.api_key_id, { enabled: false })
    await weft.apiKeys.remove(env.env_id, key.api_key_id)
    const { items } = await weft.env(env.env_id).audit.list({ object_id: key.api_key_id })
    assert.deepStrictEqual(
      items.map((entry) => [entry.action, entry.actor_type, entry.request_id, entry.address]),
      ["api_key.remove", "api_key.update", "api_key.create"].map((action) => [action, "host", null, null])
    )
    assert.deepInclude(items[1]?.details, { enabled: false })
    const { key_id } = await weft.secrets.reseal()
    const resealed = await weft.audit.list({ action: "secrets.reseal" })
    assert.deepStrictEqual(resealed.items[0]?.details, { key_id, resealed: 0, unreadable: 0 })
  })

  it("names the API key behind a service key", async () => {
    const made = await server.call("POST", "/v1/service-keys", { json: { permissions: full } })
    const { service_key_id, token } = made.json.data
    await server.call("POST", "/v1/domains", { token, json: { domain: "parent.example.com" } })
    const [entry] = await audit(`?actor_id=${service_key_id}`)
    assert.strictEqual(entry.actor_type, "service-key")
    assert.include(server.token, entry.actor_api_key_id)
  })

  it("requires the permission to read keys, and validates filters", async () => {
    const { token } = await server.key({ "project:*": ["*"] })
    refused(await server.call("GET", "/v1/audit", { token }), 403, "forbidden")
    for (const query of ["?action=no.such", "?outcome=maybe", "?time_range=soon", "?limit=0"]) {
      refused(await server.call("GET", `/v1/audit${query}`), 400, "bad_request")
    }
    assert.strictEqual((await audit("?time_range=PT1H&limit=1")).length, 1)
    const page = await server.call("GET", "/v1/audit?limit=1&offset=1")
    assert.deepInclude(page.json.pagination, { limit: 1, offset: 1, has_more: true })
  })
})

const latestOf = (token: string) => latest("?action=authenticate", token)

describe("client addresses", () => {
  const creating = async (behind: TestServer, headers: Record<string, string>) => {
    const made = await behind.call("POST", "/v1/sessions", { headers, json: { permissions: {} } })
    const [entry] = (await behind.call("GET", `/v1/audit?object_id=${made.json.data.session_id}`)).json.data
    return entry.address
  }

  it("are those of the connection, regardless of forwarding headers", async () => {
    assert.strictEqual(await creating(server, { "x-forwarded-for": "203.0.113.9" }), "127.0.0.1")
  })

  it("are those that a trusted proxy added", async () => {
    const behind = await TestServer.start({ trustProxy: true })
    try {
      assert.strictEqual(await creating(behind, { "x-forwarded-for": "198.51.100.1, 203.0.113.9" }), "203.0.113.9")
      assert.strictEqual(await creating(behind, {}), "127.0.0.1")
      assert.strictEqual((await creating(behind, { "x-forwarded-for": "z".repeat(5000) })).length, 64)
    } finally {
      await behind.close()
    }
  })
})
