import { assert, it } from "@effect/vitest"
import { Dns } from "@weft/core"
import { Effect, Layer, Redacted } from "effect"
import { openClient } from "../fuzz/Client.ts"
import { modules } from "../server/functions.ts"
import { onBackendOfRun } from "./Backends.ts"
import { eventually, fields, list, refused, single } from "./Fields.ts"

/** The names of the world, as the tests have it. */
const names = new Map<string, string>()
const dns = Layer.succeed(Dns, {
  resolveCname: (name) => Effect.sync(() => [names.get(name) ?? []].flat()),
  resolveAddresses: () => Effect.succeed([])
})
const domains = { validationZone: "validation.weft.example", routingZone: "routing.weft.example", dns }

onBackendOfRun({ modules, weft: { domains } }, ({ server }) => {
  const call = (...args: Parameters<ReturnType<typeof server>["call"]>) => server().call(...args)
  const add = async (domain: string) =>
    single(await call("POST", "/v1/domains", { json: { domain } }), 201, fields.domain)

  it("POST /domains", async () => {
    const domain = await add("hooks.example.com")
    assert.include(domain, { domain: "hooks.example.com", status: "pending_validation", routing_domain: null })
    assert.include(domain.validation_cname_name, "hooks.example.com")
    assert.isNotEmpty(domain.validation_cname_value)
    refused(await call("POST", "/v1/domains", { json: { domain: "hooks.example.com" } }), 409, "domain_exists")
    for (const wrong of ["localhost", "127.0.0.1", "*.example.com", "a b.example.com", ""]) {
      refused(await call("POST", "/v1/domains", { json: { domain: wrong } }), 400, "bad_request")
    }
  })

  it("GET /domains, GET /domains/{domain_id} and DELETE", async () => {
    const domain = await add("read.example.com")
    const [newest] = list(await call("GET", "/v1/domains"), fields.domain)
    assert.deepStrictEqual(newest, domain)
    assert.deepStrictEqual(single(await call("GET", `/v1/domains/${domain.domain_id}`), 200, fields.domain), domain)
    assert.strictEqual((await call("DELETE", `/v1/domains/${domain.domain_id}`)).status, 204)
    await eventually(
      server(),
      `/v1/domains/${domain.domain_id}`,
      ({ status, json }) => status === 404 || json.data.status === "deleting"
    )
  })

  it("POST /domains/{domain_id}/verify: pending until the CNAME is there, then validated, at last routed", async () => {
    const domain = await add("verify.example.com")
    const verify = () => call("POST", `/v1/domains/${domain.domain_id}/verify`)
    const pending = single(await verify(), 200, fields.verification)
    assert.include(pending, { domain: "verify.example.com", status: "pending_validation" })
    assert.include(pending.message, domain.validation_cname_name)
    assert.include(pending.message, domain.validation_cname_value)
    names.set(domain.validation_cname_name, domain.validation_cname_value)
    assert.strictEqual(single(await verify(), 200, fields.verification).status, "validated")
    await eventually(server(), `/v1/domains/${domain.domain_id}`, ({ json }) => json.data.status !== "validated")
    assert.strictEqual(single(await verify(), 200, fields.verification).status, "validated")
    const { routing_domain } = single(await call("GET", `/v1/domains/${domain.domain_id}`), 200, fields.domain)
    assert.match(routing_domain, /\.routing\.weft\.example$/)

    await server().deploy("routed", "shop")
    const client = openClient(server().listening.url)
    const hook = (host: string, path: string) => client.send({ method: "GET", path, headers: { host }, body: null })
    try {
      const custom = await hook("verify.example.com", "/webhook/shop/read?a=1")
      assert.strictEqual(custom.status, 200)
      assert.deepStrictEqual(custom.json, { query: { a: "1" }, url: "/webhook/shop/read" })
      assert.strictEqual((await hook("verify.example.com", "/v1/status")).status, 404)
      assert.strictEqual((await hook("other.example.com", "/webhook/shop/read")).status, 404)
      await call("DELETE", `/v1/domains/${domain.domain_id}`)
      assert.strictEqual((await hook("verify.example.com", "/webhook/shop/read")).status, 404)
    } finally {
      client.close()
      await call("DELETE", "/v1/projects/routed")
    }
  })

  it("domains are of the plans that have them, and as many as those have", async () => {
    const org = await server().weft.orgs.create({ slug: "small", plan: "Free" })
    const env = await server().weft.envs.create(org.org_id, { name: "prod" })
    const { token } = await server().weft.apiKeys.create(env.env_id, {})
    const post = (domain: string) => call("POST", "/v1/domains", { token: Redacted.value(token), json: { domain } })
    refused(await post("free.example.com"), 403, "plan_required")
    await server().weft.orgs.update(org.org_id, { plan: "Pro" })
    for (let n = 1; n <= 5; n++) {
      for (let round = 0; (await post(`pro-${n}.example.com`)).status !== 201; round++) assert.isBelow(round, 100)
    }
    refused(await post("pro-6.example.com"), 403, "domain_limit_reached")
  })
})
