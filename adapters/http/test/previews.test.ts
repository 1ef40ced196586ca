/** Previews over HTTP: what reaches them, what they refuse, and what others see of them. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type CallOptions, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  const { build_id } = await server.deploy("shop", "shop")
  const deployed = await server.call("PUT", "/v1/projects/shop/previews/pr-42", { json: { build_id, ttl: "2d" } })
  assert.deepInclude(deployed.json.data, {
    name: "pr-42",
    build_id,
    url: "https://weft.example.net/webhook/acme/prod~pr-42"
  })
})
afterAll(() => server.close())

const inside = (method: string, path: string, options: CallOptions = {}) =>
  server.call(method, path, { ...options, headers: { "weft-preview": "pr-42", ...options.headers } })

/** Publishes an event, and returns its runs when they have ended. */
const runsOf = async (call: typeof inside) => {
  const json = { event_type: "order:created", event_data: { total: 21 } }
  const { event_id } = (await call("POST", "/v1/events", { json })).json.data
  for (;;) {
    const runs = (await call("GET", `/v1/events/${event_id}/runs`)).json.data
    if (runs.length > 0 && runs[0].status !== "running") return runs
  }
}

describe("a preview", () => {
  it("has runs of its own, which show its name", async () => {
    const [own] = await runsOf(inside)
    assert.deepInclude(own, { status: "succeeded", project_name: "shop" })
    const [live] = await runsOf((...args) => server.call(...args))
    const idsOf = async (path: string) =>
      (await server.call("GET", path)).json.data.map(({ run_id, preview }: Record<string, string>) => [run_id, preview])
    assert.deepStrictEqual(await idsOf("/v1/runs?preview=pr-42"), [[own.run_id, "pr-42"]])
    assert.deepStrictEqual(await idsOf("/v1/runs"), [[live.run_id, undefined]])
    assert.strictEqual((await server.call("GET", `/v1/runs/${own.run_id}`)).status, 404)
    assert.strictEqual((await inside("GET", `/v1/runs/${own.run_id}`)).json.data.preview, "pr-42")
    assert.strictEqual((await inside("GET", `/v1/runs/${live.run_id}`)).status, 404)
  })

  it("has webhooks of its own, and accepts the credentials of its environment", async () => {
    assert.strictEqual((await server.call("GET", "/webhook/acme/prod~pr-42/shop/read")).status, 200)
    const closed = (token: string) => server.call("POST", "/webhook/acme/prod~pr-42/shop/secret", { token })
    assert.strictEqual((await closed(server.token)).status, 200)
    const { env_id } = await server.weft.envs.create("acme", { name: "staging" })
    const { token } = await server.weft.apiKeys.create(env_id, {})
    assert.strictEqual((await closed(Redacted.value(token))).status, 401)
    const headers = { "weft-preview": "pr-42" }
    const entered = await server.call("GET", "/v1/runs", { token: Redacted.value(token), headers })
    assert.deepStrictEqual([entered.status, entered.json.error.code], [400, "bad_request"])
  })

  it("has the permissions of the caller, and no projects, domains or keys of its own", async () => {
    const { token } = await server.key({ "event:order:created": ["create"], "run:other": ["read"] })
    const json = { event_type: "order:created", event_data: {} }
    assert.strictEqual((await inside("POST", "/v1/events", { token, json })).status, 201)
    assert.strictEqual((await inside("POST", "/v1/events", { token, json: { ...json, event_type: "a" } })).status, 403)
    assert.isEmpty((await inside("GET", "/v1/runs", { token })).json.data)
    for (const [method, path] of [
      ["POST", "/v1/projects"],
      ["GET", "/v1/domains"],
      ["POST", "/v1/sessions"],
      ["GET", "/v1/projects/shop/previews"]
    ] as const) {
      const refused = await inside(method, path)
      assert.strictEqual(refused.status, 400, path)
      assert.include(refused.json.error.message, "preview: this request acts on the environment")
    }
    const unknown = await server.call("GET", "/v1/runs?preview=pr-1")
    assert.strictEqual(unknown.json.error.message, 'preview: the environment has no preview "pr-1"')
  })

  it("is hidden from the lists of environments, and gone after its removal", async () => {
    const names = (await server.weft.envs.list("acme", { limit: 10, offset: 0 })).items.map(({ name }) => name)
    assert.notInclude(names, "prod~pr-42")
    assert.strictEqual((await server.call("DELETE", "/v1/projects/shop/previews/pr-42")).status, 204)
    assert.strictEqual((await server.call("GET", "/webhook/acme/prod~pr-42/shop/read")).status, 404)
    assert.strictEqual((await inside("GET", "/v1/runs")).status, 400)
    assert.strictEqual((await server.call("GET", "/webhook/acme/prod/shop/read")).status, 200)
  })
})
