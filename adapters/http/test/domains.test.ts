import { request as nodeRequest } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Dns, DnsUnavailable } from "@weft/core/adapter"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { waitingRun } from "./server/ApprovalRun.ts"
import { modules } from "./server/functions.ts"
import { type CallOptions, checkEnvelope, type Reply, replyOf, startWeft, TestServer } from "./server/TestServer.ts"

/** The DNS records of the tests. */
const cnames = new Map<string, string>()
const dns = Layer.succeed(Dns, {
  resolveCname: (name) => {
    if (name.includes("outage")) return Effect.fail(new DnsUnavailable({ name, cause: "test" }))
    const value = cnames.get(name)
    return Effect.succeed(value === undefined ? [] : [value])
  },
  resolveAddresses: () => Effect.succeed([])
})

/** Headers for a whole origin. The origin of a custom domain belongs to the tenant. */
const page: TrustedModule = {
  main: {
    page: Object.assign(
      () => ({ status: 200, headers: { "strict-transport-security": "max-age=86400", "service-worker-allowed": "/" } }),
      { meta: { webhook: { service: "page", path: "/", method: "GET" } } }
    )
  }
}

const domains = { validationZone: "v.weft.example", routingZone: "r.weft.example", ownNames: ["weft.example"], dns }

let server: TestServer
let proxied: Http.Listening

beforeAll(async () => {
  server = await TestServer.start(
    { bodyBytes: 10_000 },
    null,
    startWeft({ domains, sandbox: trustedSandbox({ ...modules, page }) })
  )
  proxied = await Http.listen(server.weft, { port: 0, trustProxy: true })
  await server.deploy("shop", "shop")
  await server.deploy("page", "page")
})
afterAll(async () => {
  await proxied.close()
  await server.close()
})

const add = (domain: unknown, options: CallOptions = {}): Promise<Reply> =>
  server.call("POST", "/v1/domains", { json: { domain }, ...options })

/** Adds a domain and validates it. */
const validated = async (name: string) => {
  const { data } = (await add(name)).json
  cnames.set(data.validation_cname_name, data.validation_cname_value)
  const verified = await server.call("POST", `/v1/domains/${data.domain_id}/verify`)
  assert.strictEqual(verified.json.data.status, "validated", verified.text)
  return (await server.call("GET", `/v1/domains/${data.domain_id}`)).json.data
}

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly port?: number
}

/** Sends a request with the given `Host` header. */
const on = (host: string, path: string, { method = "GET", headers = {}, body, port }: Sent = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: port ?? server.listening.port, path, method }
    const sent = nodeRequest({ ...options, headers: { host, ...headers } }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const received = new Headers()
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value))
        const answer = new Response(Buffer.concat(chunks), { status: response.statusCode ?? 0, headers: received })
        resolve(replyOf(answer).then(checkEnvelope))
      })
    })
    sent.on("error", reject)
    sent.end(body)
  })

const fields = [
  ...["domain_id", "env_id", "domain", "status", "validation_cname_name", "validation_cname_value"],
  ...["routing_domain", "created_at"]
]

const eventually = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let round = 0; round < 250; round++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail("it never was so")
}

describe("the endpoints for custom domains", () => {
  it("register, list and show domains", async () => {
    const created = await add("One.Example.com")
    assert.strictEqual(created.status, 201)
    const { data } = created.json
    assert.deepStrictEqual(Object.keys(data), fields)
    assert.include(data, { env_id: server.env.env_id, domain: "one.example.com", status: "pending_validation" })
    assert.isNull(data.routing_domain)
    assert.strictEqual(data.validation_cname_name, "_acme-challenge.one.example.com")
    assert.match(data.validation_cname_value, /^[0-9a-f]{32}\.v\.weft\.example$/)
    assert.deepStrictEqual((await server.call("GET", `/v1/domains/${data.domain_id}`)).json.data, data)
    await add("two.example.com")
    const list = await server.call("GET", "/v1/domains?limit=1&offset=1")
    assert.deepStrictEqual(list.json.data, [data])
    assert.deepStrictEqual(list.json.pagination, { total: 2, limit: 1, offset: 1, has_more: false })
    for (let n = 0; n < 20; n++) await add(`shop${n}.example.com`)
    const all = await server.call("GET", "/v1/domains")
    assert.strictEqual(all.json.data.length, 22)
    assert.deepStrictEqual(all.json.pagination, { total: 22, limit: 22, offset: 0, has_more: false })
  })

  it("verify a domain and return instructions", async () => {
    const { data } = (await add("three.example.com")).json
    const verify = () => server.call("POST", `/v1/domains/${data.domain_id}/verify`)
    const pending = await verify()
    assert.strictEqual(pending.status, 200)
    assert.deepStrictEqual(Object.keys(pending.json.data), ["domain_id", "domain", "status", "message"])
    assert.include(pending.json.data, {
      domain_id: data.domain_id,
      domain: "three.example.com",
      status: "pending_validation"
    })
    assert.include(pending.json.data.message, data.validation_cname_name)
    assert.include(pending.json.data.message, data.validation_cname_value)
    cnames.set(data.validation_cname_name, data.validation_cname_value)
    const proven = (await verify()).json.data
    assert.strictEqual(proven.status, "validated")
    // Clients poll until `validated`, so later statuses are reported as it.
    const shown = () => server.call("GET", `/v1/domains/${data.domain_id}`)
    await eventually(async () => (await shown()).json.data.status !== "validated")
    assert.strictEqual((await verify()).json.data.status, "validated")
    const { routing_domain } = (await shown()).json.data
    assert.match(routing_domain, /^[0-9a-f]{32}\.r\.weft\.example$/)
    assert.include(proven.message, routing_domain)
  })

  it("delete a domain, once, and in the background", async () => {
    const { domain_id } = await validated("four.example.com")
    const path = `/v1/domains/${domain_id}`
    const removed = await server.call("DELETE", path)
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    assert.strictEqual((await server.call("DELETE", path)).status, 404)
    await eventually(async () => (await server.call("GET", path)).status === 404)
    assert.strictEqual((await add("four.example.com")).status, 201)
  })

  it("reject invalid host names and the service's own with bad_request", async () => {
    for (const domain of [
      "",
      "localhost",
      "*.example.com",
      "192.0.2.1",
      "a b.example.com",
      "api.weft.example",
      7,
      null
    ]) {
      const reply = await add(domain)
      assert.deepStrictEqual([reply.status, reply.json.error.code], [400, "bad_request"], String(domain))
      assert.include(reply.json.error.message, "domain")
    }
    assert.strictEqual((await server.call("POST", "/v1/domains", { json: {} })).status, 400)
  })

  it("reject a registered name with domain_exists", async () => {
    await add("five.example.com")
    const reply = await add("FIVE.example.com")
    assert.deepStrictEqual([reply.status, reply.json.error.code], [409, "domain_exists"])
  })

  it("apply the plan with plan_required and domain_limit_reached, before they validate names", async () => {
    const tokens: Array<string> = []
    for (const plan of ["Starter", "Pro"]) {
      const org = await server.weft.orgs.create({ slug: plan.toLowerCase(), plan })
      const env = await server.weft.envs.create(org.slug, { name: "prod" })
      tokens.push(Redacted.value((await server.weft.apiKeys.create(env.env_id, {})).token))
    }
    const [starter = "", pro = ""] = tokens
    await add("taken.example.com")
    const refused = await add("taken.example.com", { token: starter })
    assert.deepStrictEqual([refused.status, refused.json.error.code], [403, "plan_required"])
    assert.strictEqual((await add("no name", { token: starter })).status, 400)
    for (let n = 0; n < 5; n++) assert.strictEqual((await add(`p${n}.example.com`, { token: pro })).status, 201)
    const limited = await add("taken.example.com", { token: pro })
    assert.deepStrictEqual([limited.status, limited.json.error.code], [403, "domain_limit_reached"])
  })
})

describe("a request for a custom domain", () => {
  it("runs the endpoint of its environment, exactly as the standard URL does", async () => {
    await validated("hooks.example.com")
    const json = { "content-type": "application/json" }
    const custom = await on("hooks.example.com", "/webhook/shop/echo?a=1", {
      method: "POST",
      headers: { ...json, "content-length": "7" },
      body: '{"n":1}'
    })
    assert.strictEqual(custom.status, 200, custom.text)
    assert.include(custom.json, { method: "POST", url: "/webhook/shop/echo", "body-raw": '{"n":1}' })
    assert.deepStrictEqual(custom.json.query, { a: "1" })
    // Without a length, for the general path.
    const chunked = { method: "POST", headers: { ...json, "transfer-encoding": "chunked" }, body: '{"n":1}' }
    const general = await on("hooks.example.com", "/webhook/shop/echo?a=1", chunked)
    assert.deepStrictEqual({ ...general.json, headers: null }, { ...custom.json, headers: null })
    for (const host of ["HOOKS.Example.com", "hooks.example.com:443", "hooks.example.com."]) {
      assert.strictEqual((await on(host, "/webhook/shop/read")).json.url, "/webhook/shop/read", host)
    }
    assert.strictEqual((await on("hooks.example.com", "/webhook/shop/text")).text, "blåbær")
    assert.strictEqual((await on("hooks.example.com", "/webhook/shop/fails")).status, 500)
    assert.strictEqual((await on("hooks.example.com", "/webhook/shop/secret", { method: "POST" })).status, 401)
    const authorization = `Bearer ${server.token}`
    const known = await on("hooks.example.com", "/webhook/shop/secret", { method: "POST", headers: { authorization } })
    assert.strictEqual(known.json.type, "api-key")
  })

  it("may receive headers for the whole origin, which the shared host drops", async () => {
    await validated("pages.example.com")
    for (const headers of [{}, { "service-worker": "script" }, { "transfer-encoding": "chunked" }]) {
      const own = await on("pages.example.com", "/webhook/page", { headers })
      assert.strictEqual(own.status, 200, own.text)
      assert.strictEqual(own.headers.get("strict-transport-security"), "max-age=86400")
      assert.strictEqual(own.headers.get("service-worker-allowed"), "/")
    }
    const shared = await on("weft.example", "/webhook/acme/prod/page")
    assert.strictEqual(shared.status, 200, shared.text)
    assert.isFalse(shared.headers.has("strict-transport-security"))
    const script = await on("weft.example", "/webhook/acme/prod/page", { headers: { "service-worker": "script" } })
    assert.strictEqual(script.status, 404)
  })

  it("completes tokens", async () => {
    await validated("approve.example.com")
    const { run_id, url } = await waitingRun(server)
    const done = await on("approve.example.com", new URL(url).pathname, { method: "POST" })
    assert.deepStrictEqual([done.status, done.json.data.run_id], [200, run_id])
  })

  it("reaches nothing else", async () => {
    await validated("bare.example.com")
    const authorization = `Bearer ${server.token}`
    for (const path of [
      "/",
      "/v1/projects",
      "/v1/status",
      "/healthz",
      "/docs",
      "/admin/orgs",
      "/webhook",
      "/webhook/"
    ]) {
      const reply = await on("bare.example.com", path, { headers: { authorization } })
      assert.deepStrictEqual([reply.status, reply.json.error.code], [404, "not_found"], path)
    }
    for (const [method, path] of [
      ["GET", "/webhook/acme/prod/shop/read"],
      ["GET", "/webhook/shop/echo"],
      ["POST", "/webhook/shop/read"],
      ["OPTIONS", "/webhook/shop/read"],
      ["GET", "/webhook/shop"],
      ["GET", "/webhook//read"]
    ] as const) {
      assert.strictEqual((await on("bare.example.com", path, { method })).status, 404, `${method} ${path}`)
    }
  })

  it("uses X-Forwarded-Host only with a trusted proxy", async () => {
    await validated("proxy.example.com")
    const headers = { "x-forwarded-host": "proxy.example.com, inner.example" }
    assert.strictEqual((await on("inner.example", "/webhook/shop/read", { headers })).status, 404)
    assert.strictEqual((await on("inner.example", "/webhook/shop/read", { headers, port: proxied.port })).status, 200)
    const claimed = { "x-forwarded-host": "inner.example" }
    assert.strictEqual((await on("proxy.example.com", "/webhook/shop/read", { headers: claimed })).status, 200)
    const { status } = await on("proxy.example.com", "/webhook/shop/read", { headers: claimed, port: proxied.port })
    assert.strictEqual(status, 404)
  })

  it("also works on fetch hosts", async () => {
    await validated("fetch.example.com")
    const mount = Http.fetch(server.weft)
    const called = await replyOf(await mount(new Request("https://fetch.example.com/webhook/shop/read?q=1")))
    assert.deepStrictEqual([called.status, called.json], [200, { query: { q: "1" }, url: "/webhook/shop/read" }])
    assert.strictEqual((await mount(new Request("https://fetch.example.com/v1/status"))).status, 404)
    assert.strictEqual((await mount(new Request("https://weft.example/v1/status"))).status, 200)
    await mount.close()
  })
})
