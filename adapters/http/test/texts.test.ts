/** Text that some databases cannot store: rejected by field name, but kept as part of JSON. */
import { assert, describe, it } from "@effect/vitest"
import { type TrustedSvc, trustedSandbox } from "@weft/core/testing"
import fc from "fast-check"
import { afterAll, beforeAll } from "vitest"
import { operations } from "./openapi/Operations.ts"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

const meta = { event: "said" }
const main = {
  repeat: Object.assign(
    (event: { event_data: unknown }, svc: TrustedSvc) => {
      svc.log.info(`said \u0000`, event.event_data)
      return event.event_data
    },
    { meta }
  )
}
const modules = {
  main: { main },
  described: { main: { fn: Object.assign(() => null, { meta: { ...meta, description: "a\u0000b" } }) } },
  named: { main: { "fn\u0000": Object.assign(() => null, { meta }) } }
}

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start({}, adminToken, startWeft({ sandbox: trustedSandbox(modules) }))
  await server.deploy("shop", "main")
})
afterAll(() => server.close())

/** Fields, each in an otherwise valid request. */
const fields: ReadonlyArray<readonly [field: string, method: string, path: string, body: (text: string) => unknown]> = [
  ["name", "POST", "/v1/projects", (name) => ({ name })],
  ["name", "PATCH", "/v1/projects/shop", (name) => ({ name })],
  ["event_type", "POST", "/v1/events", (event_type) => ({ event_type, event_data: {} })],
  ["event_type", "POST", "/v1/streams/subscribe-with-event", (event_type) => ({ event_type, event_data: {} })],
  ["key", "POST", "/v1/projects/shop/context", (key) => ({ key, value: "x" })],
  ["description", "POST", "/v1/projects/shop/context", (description) => ({ key: "K", value: "x", description })],
  ["path", "POST", "/v1/files/uploads", (path) => ({ path })],
  ["content_type", "POST", "/v1/files/uploads", (content_type) => ({ path: "a", content_type })],
  ["name", "POST", "/v1/service-keys", (name) => ({ name, permissions: {} })],
  ["description", "POST", "/v1/service-keys", (description) => ({ description, permissions: {} })],
  ["permissions", "POST", "/v1/service-keys", (path) => ({ permissions: { [`project:${path}`]: ["read"] } })],
  ["permissions", "POST", "/v1/sessions", (path) => ({ permissions: { [`file:${path}`]: ["read"] } })],
  ["domain", "POST", "/v1/domains", (name) => ({ domain: `${name}.example.com` })],
  ["slug", "POST", "/admin/orgs", (slug) => ({ slug })],
  ["name", "POST", "/admin/orgs", (name) => ({ slug: "fresh", name })],
  ["name", "PATCH", "/admin/orgs/acme", (name) => ({ name })],
  ["plan", "PATCH", "/admin/orgs/acme", (plan) => ({ plan })],
  ["name", "POST", "/admin/orgs/acme/envs", (name) => ({ name })]
]

const word = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 10 })
const odd = fc.constantFrom("\u0000", "\ud800", "\udc00")
const oddText = fc.tuple(word, odd, word).map((parts) => parts.join(""))

const refused = (reply: Reply, field: string): void => {
  assert.strictEqual(reply.status, 400, reply.text)
  assert.include(reply.json.error.message, field)
}

describe("text with U+0000 or a lone surrogate", () => {
  for (const [field, method, path, body] of fields) {
    it(`is rejected as ${field} of ${method} ${path}`, async () => {
      const token = path.startsWith("/admin") ? adminToken : server.token
      await fc.assert(
        fc.asyncProperty(oddText, async (text) => {
          refused(await server.call(method, path, { json: body(text), token }), field)
        }),
        { numRuns: 20 }
      )
    })
  }

  it("is rejected in the path of an upload and as the prefix of a list", async () => {
    refused(await server.call("PUT", "/v1/files/upload/a%00b", { body: "x" }), "path")
    refused(await server.call("GET", "/v1/files?prefix=a%00b"), "prefix")
    for (const field of ["actor_id", "object_id"]) {
      refused(await server.call("GET", `/v1/audit?${field}=%00`), field)
    }
  })

  it("is rejected in the metadata of a build", async () => {
    for (const module of ["described", "named"]) {
      const { build_id } = (await server.upload("shop", module)).json.data
      refused(await server.call("POST", `/v1/projects/shop/builds/${build_id}/deploy`), "U+0000")
    }
  })
})

describe("a resource named by text with U+0000", () => {
  const named = operations.filter(([route]) => route.includes("{"))
  it.each(named)("is missing or rejected: %s", async (route) => {
    const [method = "", template = ""] = route.split(" ")
    const path = template.replace(/\{\w+\}/g, "a%00b")
    const token = path.startsWith("/admin") ? adminToken : server.token
    const body = { name: "x", slug: "x", key: "X", value: "x", permissions: {} }
    const hasBody = method !== "GET" && method !== "DELETE"
    const reply = await server.call(method, path, { token, ...(hasBody ? { json: body } : {}) })
    // The credential of a link is its signature, which is checked first.
    assert.include(template.endsWith("/content") ? [401] : [400, 404], reply.status, reply.text)
  })
})

describe("JSON with U+0000", () => {
  it("is stored unchanged: data of events, results and logs", async () => {
    const event_data = { "k\u0000": ["a\u0000b", "\u0000"] }
    const { event_id } = (await server.call("POST", "/v1/events", { json: { event_type: "said", event_data } })).json
      .data
    assert.deepStrictEqual((await server.call("GET", `/v1/events/${event_id}`)).json.data.event_data, event_data)
    const ended = async (): Promise<{ readonly run_id: string; readonly result: unknown }> => {
      const [run] = (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data
      return run?.status === "succeeded" ? run : ended()
    }
    const { run_id, result } = await ended()
    assert.deepStrictEqual(result, event_data)
    const [line] = (await server.call("GET", `/v1/runs/${run_id}/logs`)).json.data
    assert.deepInclude(line, { message: "said \u0000", data: event_data })
  })

  it("is stored unchanged: metadata of service keys", async () => {
    const json = { permissions: {}, metadata: { note: "a\u0000b" } }
    const { service_key_id } = (await server.call("POST", "/v1/service-keys", { json })).json.data
    const { data } = (await server.call("GET", `/v1/service-keys/${service_key_id}`)).json
    assert.deepStrictEqual(data.metadata, json.metadata)
  })
})
