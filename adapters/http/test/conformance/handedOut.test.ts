/** What an API key hands out, sessions and service keys, and what a project keeps secret. */
import { assert, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { onBackendOfRun } from "./Backends.ts"
import { fields, list, refused, single } from "./Fields.ts"

onBackendOfRun({ modules }, ({ server }) => {
  const call = (...args: Parameters<ReturnType<typeof server>["call"]>) => server().call(...args)
  const withToken = (names: ReadonlyArray<string>) => [...names, "token"]
  const nowhere = "01890000-0000-7000-8000-000000000000"
  const permissions = { "env:*": ["read"] }

  /** A new API key, so that nothing else is among its children. */
  const parent = async () => (await server().key({ "*:*": ["*"] })).token

  it("POST /sessions", async () => {
    const json = { permissions, metadata: { customer: [1] }, expires_in: 60 }
    const { token, ...session } = single(await call("POST", "/v1/sessions", { json }), 201, withToken(fields.session))
    assert.deepInclude(session, { permissions, metadata: { customer: [1] } })
    assert.strictEqual(Date.parse(session.expires_at) - Date.parse(session.created_at), 60_000)
    assert.strictEqual((await call("GET", "/v1/env", { token })).status, 200)
    for (const expires_in of [0, -1, 86_401, 1.5, "60"]) {
      refused(await call("POST", "/v1/sessions", { json: { permissions, expires_in } }), 400, "bad_request")
    }
    const { data: plain } = (await call("POST", "/v1/sessions", { json: { permissions } })).json
    assert.strictEqual(Date.parse(plain.expires_at) - Date.parse(plain.created_at), 3_600_000)
    const { data: longest } = (await call("POST", "/v1/sessions", { json: { permissions, expires_in: 86_400 } })).json
    assert.strictEqual(Date.parse(longest.expires_at) - Date.parse(longest.created_at), 86_400_000)
  })

  it("GET /sessions, DELETE /sessions/{session_id} and DELETE /sessions", async () => {
    const token = await parent()
    const made = async () => (await call("POST", "/v1/sessions", { token, json: { permissions } })).json.data
    const [first, second, third] = [await made(), await made(), await made()]
    const listed = list(await call("GET", "/v1/sessions", { token }), fields.session)
    assert.deepStrictEqual(
      listed.map((one: { session_id: string }) => one.session_id),
      [third.session_id, second.session_id, first.session_id]
    )
    assert.strictEqual((await call("DELETE", `/v1/sessions/${first.session_id}`, { token })).status, 204)
    refused(await call("DELETE", `/v1/sessions/${first.session_id}`, { token }), 404, "not_found")
    // Of another API key of the same environment.
    refused(await call("DELETE", `/v1/sessions/${second.session_id}`), 404, "not_found")
    refused(await call("GET", "/v1/env", { token: first.token }), 401, "unauthorized")
    const revoked = await call("DELETE", "/v1/sessions", { token })
    assert.deepStrictEqual(single(revoked, 200, ["revoked_count"]), { revoked_count: 2 })
    assert.deepStrictEqual((await call("GET", "/v1/sessions", { token })).json.data, [])
    refused(await call("GET", "/v1/env", { token: third.token }), 401, "unauthorized")
  })

  it("POST /service-keys", async () => {
    const json = { name: "deployer", description: "for CI", permissions, metadata: { n: 1 }, expires_in: 120 }
    const { token, ...key } = single(
      await call("POST", "/v1/service-keys", { json }),
      201,
      withToken(fields.serviceKey)
    )
    assert.match(token, new RegExp(`^${key.service_key_id}_[A-Za-z0-9_-]{32,}$`))
    assert.deepInclude(key, { name: "deployer", description: "for CI", permissions, metadata: { n: 1 }, active: true })
    assert.strictEqual(Date.parse(key.expires_at) - Date.parse(key.created_at), 120_000)
    assert.strictEqual((await call("GET", "/v1/env", { token })).status, 200)
    for (const endless of [{ permissions }, { permissions, expires_in: null }]) {
      const made = single(await call("POST", "/v1/service-keys", { json: endless }), 201, withToken(fields.serviceKey))
      assert.isNull(made.expires_at)
    }
  })

  it("GET and DELETE of /service-keys and of /service-keys/{service_key_id}", async () => {
    const token = await parent()
    const made = async () => (await call("POST", "/v1/service-keys", { token, json: { permissions } })).json.data
    const [first, second] = [await made(), await made()]
    const path = `/v1/service-keys/${first.service_key_id}`
    const read = single(await call("GET", path, { token }), 200, fields.serviceKey)
    assert.include(read, { active: true, revoked_at: null })
    refused(await call("GET", path), 404, "not_found")
    refused(await call("DELETE", path), 404, "not_found")
    assert.strictEqual((await call("DELETE", path, { token })).status, 204)
    refused(await call("DELETE", path, { token }), 404, "not_found")
    const audited = single(await call("GET", path, { token }), 200, fields.serviceKey)
    assert.isFalse(audited.active)
    assert.isString(audited.revoked_at)
    assert.strictEqual(list(await call("GET", "/v1/service-keys", { token }), fields.serviceKey).length, 2)
    const revoked = await call("DELETE", "/v1/service-keys", { token })
    assert.deepStrictEqual(single(revoked, 200, ["revoked_count"]), { revoked_count: 1 })
    refused(await call("GET", "/v1/env", { token: second.token }), 401, "unauthorized")
    refused(await call("GET", `/v1/service-keys/${nowhere}`, { token }), 404, "not_found")
  })

  it("only API keys make sessions and service keys, and none that exceed them", async () => {
    const all = { "*:*": ["*"] }
    const session = (await call("POST", "/v1/sessions", { json: { permissions: all } })).json.data
    const key = (await call("POST", "/v1/service-keys", { json: { permissions: all } })).json.data
    const { token: narrow } = await server().key({ "session:*": ["*"], "key:*": ["*"], "event:*": ["read"] })
    for (const path of ["/v1/sessions", "/v1/service-keys"]) {
      for (const { token } of [session, key]) {
        refused(await call("POST", path, { token, json: { permissions: {} } }), 403, "forbidden")
      }
      for (const more of [all, { "event:*": ["create"] }, { "event:*": ["*"] }, { "run:*": ["read"] }]) {
        const reply = await call("POST", path, { token: narrow, json: { permissions: more } })
        refused(reply, 403, "permission_escalation")
      }
      const within = { "event:order:created": ["read"] }
      assert.strictEqual((await call("POST", path, { token: narrow, json: { permissions: within } })).status, 201)
    }
  })

  it("a webhook is told who calls: auth.type, and a service key's metadata", async () => {
    await server().deploy("asking", "shop")
    const all = { permissions: { "webhook:*": ["execute"] }, metadata: { tenant: "t-1" } }
    const key = (await call("POST", "/v1/service-keys", { json: all })).json.data
    const session = (await call("POST", "/v1/sessions", { json: all })).json.data
    const asked = async (token: string) => (await call("POST", "/webhook/acme/prod/shop/secret", { token })).json
    assert.strictEqual((await asked(server().token)).type, "api-key")
    assert.strictEqual((await asked(session.token)).type, "session")
    assert.deepInclude(await asked(key.token), { type: "service-key" })
    assert.deepStrictEqual((await asked(key.token))["service-key"].meta, { tenant: "t-1" })
    await call("DELETE", "/v1/projects/asking")
  })

  it("GET, POST, PUT and DELETE of /projects/{project_id_or_slug}/context", async () => {
    await call("POST", "/v1/projects", { json: { name: "vault" } })
    const path = "/v1/projects/vault/context"
    const json = { key: "TOKEN", value: "hush", description: "of the vault" }
    const made = await call("POST", path, { json })
    assert.include(single(made, 201, fields.variable), { key: "TOKEN", description: "of the vault" })
    const changed = await call("PUT", `${path}/TOKEN`, { json: { value: "hush again", description: "new" } })
    assert.include(single(changed, 200, fields.variable), { key: "TOKEN", description: "new" })
    const listed = await call("GET", path)
    assert.strictEqual(list(listed, fields.variable).length, 1)
    for (const { text } of [made, changed, listed]) assert.notInclude(text, "hush")
    refused(await call("POST", path, { json }), 400, "bad_request")
    refused(await call("PUT", `${path}/NONE`, { json }), 404, "not_found")
    refused(await call("POST", "/v1/projects/none/context", { json }), 404, "not_found")
    assert.strictEqual((await call("DELETE", `${path}/TOKEN`)).status, 204)
    refused(await call("DELETE", `${path}/TOKEN`), 404, "not_found")
  })
})
