/** Sessions and service keys, the credentials that API keys create. Core proves their rules. */
import { assert, describe, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { actingAs, unknownId } from "../server/GoodRequests.ts"
import { onBackendOfRun } from "./Backends.ts"
import { fields, list, refused, single } from "./Fields.ts"

interface Kind {
  readonly path: string
  readonly id: "session_id" | "service_key_id"
  readonly names: ReadonlyArray<string>
  readonly token: (id: string) => RegExp
  readonly lifetimeSeconds: { readonly default: number | null; readonly max: number }
  /** Bodies that are invalid for this kind only, with the field that the message names. */
  readonly invalid: ReadonlyArray<readonly [Record<string, unknown>, string]>
}

const kinds: ReadonlyArray<Kind> = [
  {
    path: "/sessions",
    id: "session_id",
    names: fields.session,
    token: (id) => new RegExp(`^s_${id}_[A-Za-z0-9_-]{32,}$`),
    lifetimeSeconds: { default: 3600, max: 86_400 },
    invalid: [[{ permissions: {}, expires_in: null }, "expires_in"]]
  },
  {
    path: "/service-keys",
    id: "service_key_id",
    names: fields.serviceKey,
    token: (id) => new RegExp(`^${id}_[A-Za-z0-9_-]{32,}$`),
    lifetimeSeconds: { default: null, max: 3_153_600_000 },
    invalid: [
      [{ permissions: {}, name: 1 }, "name"],
      [{ permissions: {}, name: "n".repeat(129) }, "name"],
      [{ permissions: {}, description: "d".repeat(1025) }, "description"]
    ]
  }
]

const all = { "*:*": ["*"] }
const permissions = { "env:*": ["read"] }

onBackendOfRun({ modules }, ({ server }) => {
  const call = (...args: Parameters<ReturnType<typeof server>["call"]>) => server().call(...args)

  /** Creates a new API key, which has no other children. */
  const parent = async (own: unknown = all) => (await server().key(own)).token

  const secondsOf = ({ expires_at, created_at }: { readonly expires_at: string; readonly created_at: string }) =>
    (Date.parse(expires_at) - Date.parse(created_at)) / 1000

  for (const { path, id, names, token: form, lifetimeSeconds, invalid } of kinds) {
    const url = `/v1${path}`

    it(`POST ${path}`, async () => {
      const post = async (json: unknown) => single(await call("POST", url, { json }), 201, [...names, "token"])
      const given = { permissions: { "ctx:*": ["read"], ...permissions }, metadata: { customer: [1] }, expires_in: 60 }
      const { token, ...shown } = await post({ ...given, unknown: 1 })
      assert.match(token, form(shown[id]))
      assert.deepStrictEqual(shown.permissions, { "context:*": ["read"], ...permissions })
      assert.deepStrictEqual([shown.metadata, secondsOf(shown)], [{ customer: [1] }, 60])
      assert.strictEqual((await call("GET", "/v1/env", { token })).status, 200)
      const listed = await call("GET", url)
      assert.deepStrictEqual(list(listed, names)[0], shown)
      for (const secret of [token, "secret_hash"]) assert.notInclude(listed.text, secret)

      const plain = await post({ permissions })
      assert.isNull(plain.metadata)
      assert.strictEqual(plain.expires_at === null ? null : secondsOf(plain), lifetimeSeconds.default)
      assert.strictEqual(secondsOf(await post({ permissions, expires_in: lifetimeSeconds.max })), lifetimeSeconds.max)
      for (const metadata of [false, "", [], ["\u0000 \ud83e\uddf5", { constructor: 1, a: { b: 1e300 } }]]) {
        assert.deepStrictEqual((await post({ permissions, metadata })).metadata, metadata)
      }
    })

    it(`POST ${path} rejects an invalid body with the name of the field`, async () => {
      for (const [json, field] of [
        [{}, "permissions"],
        [{ permissions: null }, "permissions"],
        [{ permissions: { event: ["read"] } }, '"event": invalid resource'],
        ...[0, 1.5, "60", lifetimeSeconds.max + 1].map((expires_in) => [{ permissions, expires_in }, "expires_in"]),
        [{ permissions, metadata: "x".repeat(65_536) }, "metadata"],
        ...invalid
      ] as const) {
        assert.include(refused(await call("POST", url, { json }), 400, "bad_request"), String(field))
      }
    })

    it(`GET ${path}, DELETE ${path}/{${id}} and DELETE ${path}`, async () => {
      const token = await parent()
      const made = async () => (await call("POST", url, { token, json: { permissions } })).json.data
      const [first, second, third] = [await made(), await made(), await made()]
      const foreign = (await call("POST", url, { token: await parent(), json: { permissions } })).json.data
      const page = await call("GET", `${url}?limit=2&offset=1`, { token })
      assert.deepStrictEqual(
        list(page, names).map((one: Record<string, unknown>) => one[id]),
        [second[id], first[id]]
      )
      assert.strictEqual(page.json.pagination.total, 3)
      for (const other of [foreign[id], unknownId, "nonsense"]) {
        refused(await call("DELETE", `${url}/${other}`, { token }), 404, "not_found")
      }
      const revoked = await call("DELETE", `${url}/${first[id].toUpperCase()}`, { token })
      assert.deepStrictEqual([revoked.status, revoked.text], [204, ""])
      refused(await call("DELETE", `${url}/${first[id]}`, { token }), 404, "not_found")
      refused(await call("GET", "/v1/env", { token: first.token }), 401, "unauthorized")
      const both = await call("DELETE", url, { token })
      assert.deepStrictEqual(single(both, 200, ["revoked_count"]), { revoked_count: 2 })
      refused(await call("GET", "/v1/env", { token: third.token }), 401, "unauthorized")
      assert.strictEqual((await call("GET", "/v1/env", { token: foreign.token })).status, 200)
    })

    it(`only API keys create ${path.slice(1)}, within their own permissions`, async () => {
      const narrow = await parent({ "session:*": ["*"], "key:*": ["*"], "event:*": ["read"] })
      for (const more of [all, { "event:*": ["create"] }]) {
        const reply = await call("POST", url, { token: narrow, json: { permissions: more } })
        refused(reply, 403, "permission_escalation")
      }
      for (const child of kinds) {
        const { token } = (await call("POST", `/v1${child.path}`, { json: { permissions: all } })).json.data
        for (const json of [{ permissions: {} }, { permissions: 1 }]) {
          refused(await call("POST", url, { token, json }), 403, "forbidden")
        }
      }
    })
  }

  it("a revoked service key remains visible", async () => {
    const token = await parent()
    const given = { name: "deployer", description: "for CI", permissions }
    const made = (await call("POST", "/v1/service-keys", { token, json: given })).json.data
    assert.include(made, { name: "deployer", description: "for CI", active: true, revoked_at: null })
    const path = `/v1/service-keys/${made.service_key_id}`
    refused(await call("GET", path), 404, "not_found")
    await call("DELETE", path, { token })
    const { active, revoked_at } = single(await call("GET", path, { token }), 200, fields.serviceKey)
    assert.isFalse(active)
    assert.isString(revoked_at)
    const [listed] = list(await call("GET", "/v1/service-keys", { token }), fields.serviceKey)
    assert.deepInclude(listed, { active, revoked_at })
  })

  it("a thousand active sessions are session_limit_exceeded", async () => {
    const { key, token } = await server().key(all)
    const { session } = actingAs(server(), key)
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 50 }, () => session({ permissions: {} })))
    }
    const more = () => call("POST", "/v1/sessions", { token, json: { permissions: {} } })
    assert.include(refused(await more(), 429, "session_limit_exceeded"), "1000")
    await call("DELETE", "/v1/sessions", { token })
    assert.strictEqual((await more()).status, 201)
  })

  describe("a webhook", () => {
    it("receives the caller's identity: auth.type, and a service key's metadata", async () => {
      await server().deploy("asking", "shop")
      const json = { permissions: { "webhook:*": ["execute"] }, metadata: { tenant: "t-1" } }
      const key = (await call("POST", "/v1/service-keys", { json })).json.data
      const session = (await call("POST", "/v1/sessions", { json })).json.data
      const readCaller = async (token: string) => (await call("POST", "/webhook/acme/prod/shop/secret", { token })).json
      assert.strictEqual((await readCaller(server().token)).type, "api-key")
      assert.strictEqual((await readCaller(session.token)).type, "session")
      const caller = await readCaller(key.token)
      assert.deepStrictEqual([caller.type, caller["service-key"].meta], ["service-key", { tenant: "t-1" }])
    })
  })
})
