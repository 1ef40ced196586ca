import { assert, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { adminToken } from "../server/TestServer.ts"
import { onBackendOfRun } from "./Backends.ts"
import { refused } from "./Fields.ts"

/** Every row of the table of rejected permissions, with matching inputs. */
const invalid: ReadonlyArray<readonly [string, ReadonlyArray<Record<string, unknown>>, string]> = [
  [
    "resource key without a colon, empty key, empty type, empty path",
    [{ event: ["read"] }, { "": ["read"] }, { ":*": ["read"] }, { "event:": ["read"] }],
    "invalid resource"
  ],
  ["bare * (must be *:*)", [{ "*": ["*"] }], "invalid resource"],
  ["type * with a path other than *", [{ "*:orders": ["read"] }], "invalid resource"],
  [
    "type with other characters than alphanumerics and hyphens",
    [{ "ev ent:*": ["read"] }, { "é:*": ["*"] }],
    "invalid resource"
  ],
  ["empty action array", [{ "event:*": [] }], "empty action list"],
  [
    "action not lowercase, or none of the known ones",
    [{ "event:*": ["READ"] }, { "event:*": ["write"] }, { "event:*": ["read", 1] }],
    "invalid action"
  ],
  [
    "action not valid for the resource type",
    [{ "mcp:*": ["create"] }, { "run:*": ["delete"] }, { "session:*": ["update"] }, { "nothing:*": ["read"] }],
    "action not valid for resource"
  ]
]

onBackendOfRun({ modules }, ({ server }) => {
  const keys = () => `/admin/envs/${server().env.env_id}/api-keys`
  const asAdmin = (method: string, path: string, json?: unknown) =>
    server().call(method, path, { token: adminToken, ...(json === undefined ? {} : { json }) })

  for (const [row, maps, reason] of invalid) {
    it(`permissions are rejected: ${row}`, async () => {
      const { key } = await server().key({ "event:*": ["read"] })
      for (const permissions of maps) {
        const [resource = ""] = Object.keys(permissions)
        for (const reply of [
          await asAdmin("POST", keys(), { permissions }),
          await asAdmin("PATCH", `${keys()}/${key.api_key_id}`, { permissions })
        ]) {
          const message = refused(reply, 400, "bad_request")
          assert.include(message, reason)
          assert.include(message, `"${resource}"`)
        }
      }
    })
  }

  it("an API key is Full by default, or Restricted by its permissions", async () => {
    const full = await asAdmin("POST", keys(), {})
    assert.deepStrictEqual(full.json.data.permissions, { "*:*": ["*"] })
    assert.strictEqual((await server().call("GET", "/v1/env", { token: full.json.data.token })).status, 200)
    const restricted = await asAdmin("POST", keys(), { permissions: { "event:*": ["read"] } })
    const { token } = restricted.json.data
    assert.strictEqual((await server().call("GET", "/v1/events", { token })).status, 200)
    refused(await server().call("GET", "/v1/env", { token }), 403, "forbidden")
  })

  it("an API key has the form svc_<uuid>_<secret>, is shown once, and can be disabled and enabled", async () => {
    const { token, api_key_id } = (await asAdmin("POST", keys(), {})).json.data
    assert.match(token, new RegExp(`^svc_${api_key_id}_[A-Za-z0-9_-]{32,}$`))
    assert.notInclude((await asAdmin("GET", `${keys()}?limit=100`)).text, token)
    const status = async () => (await server().call("GET", "/v1/env", { token })).status
    await asAdmin("PATCH", `${keys()}/${api_key_id}`, { enabled: false })
    assert.strictEqual(await status(), 401)
    await asAdmin("PATCH", `${keys()}/${api_key_id}`, { enabled: true })
    assert.strictEqual(await status(), 200)
  })

  it("a permission on a service that is not deployed is kept, and works after a deploy", async () => {
    const { token, key } = await server().key({ "webhook:shop": ["execute"], "mcp:crm": ["execute"] })
    assert.deepStrictEqual<unknown>(key.permissions, { "webhook:shop": ["execute"], "mcp:crm": ["execute"] })
    const secret = () => server().call("POST", "/webhook/acme/prod/shop/secret", { token })
    refused(await secret(), 404, "not_found")
    await server().deploy("late", "shop")
    assert.strictEqual((await secret()).status, 200)
    await server().call("DELETE", "/v1/projects/late")
    refused(await secret(), 404, "not_found")
    await server().deploy("late", "shop")
    assert.strictEqual((await secret()).status, 200)
    await server().call("DELETE", "/v1/projects/late")
  })

  it("a missing, wrong or orphaned credential is unauthorized; a missing permission is forbidden", async () => {
    for (const token of [null, "nonsense", `${server().token}x`, "s_01890000-0000-7000-8000-000000000000_x"]) {
      refused(await server().call("GET", "/v1/env", { token }), 401, "unauthorized")
    }
    const { token } = await server().key({ "env:*": ["read"] })
    assert.strictEqual((await server().call("GET", "/v1/env", { token })).status, 200)
    refused(await server().call("GET", "/v1/runs", { token }), 403, "forbidden")
  })

  it("ctx is an alias of context, and *:* with some actions grants only those", async () => {
    const { key } = await server().key({ "ctx:*": ["read"] })
    assert.deepStrictEqual<unknown>(key.permissions, { "context:*": ["read"] })
    const { token } = await server().key({ "*:*": ["read"] })
    assert.strictEqual((await server().call("GET", "/v1/projects", { token })).status, 200)
    refused(await server().call("POST", "/v1/projects", { token, json: { name: "no" } }), 403, "forbidden")
  })
})
