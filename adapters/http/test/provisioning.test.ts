/** Tenants that the host provisions when the first webhook arrives, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import type { HostProvisioning } from "@weft/core"
import { afterEach } from "vitest"
import { type Reply, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer
afterEach(() => server.close())

/** A host that provisions organizations whose name begins with `new`, and records its calls. */
const withHost = async (limits: Omit<HostProvisioning, "admit"> = {}): Promise<Array<string>> => {
  const requested: Array<string> = []
  const admit: HostProvisioning["admit"] = ({ org, env }) => {
    requested.push(`${org}/${env}`)
    if (org === "broken") throw new Error("postgres://user:password@host/db does not answer")
    return org.startsWith("new") ? { plan: "Pro" } : null
  }
  server = await TestServer.start({}, undefined, startWeft({ provisioning: { ...limits, admit } }))
  return requested
}

const hook = (org: string): Promise<Reply> => server.call("POST", `/webhook/${org}/prod/shop/echo`, { json: {} })

const messageOf = ({ status, json }: Reply): string => `${status} ${json.error.message}`

describe("webhooks of unknown tenants", () => {
  it("work for tenants that the host provisions, and for no others", async () => {
    const requested = await withHost()
    assert.strictEqual(messageOf(await hook("new-one")), "404 There is no such webhook endpoint")
    assert.strictEqual((await server.weft.orgs.get("new-one")).plan, "Pro")
    assert.strictEqual(messageOf(await hook("stranger")), "404 There is no such environment")
    assert.strictEqual(messageOf(await hook("stranger")), "404 There is no such environment")
    assert.strictEqual(messageOf(await hook("new%2Fone")), "404 There is no such environment")
    assert.deepStrictEqual(requested, ["new-one/prod", "stranger/prod"])
  })

  it("get Retry-After without a reason if the host is called too often or does not respond", async () => {
    await withHost({ asksPerSecond: 1 })
    const outage = await hook("broken")
    assert.strictEqual(outage.status, 500)
    assert.strictEqual(outage.headers.get("retry-after"), "1")
    assert.notInclude(outage.text, "postgres")
    // One of them arrives within the same second as the previous one.
    const replies = [await hook("a"), await hook("b"), await hook("c")]
    const late = replies.find(({ status }) => status === 429)
    assert.isDefined(late)
    assert.strictEqual(late.headers.get("retry-after"), "1")
    assert.strictEqual(late.json.error.code, "rate_limit_exceeded")
  })
})

describe("a request with a credential", () => {
  it("provisions no tenant, because the credential's tenant exists", async () => {
    const requested = await withHost()
    const mcp = await server.call("POST", "/mcp/new-one/prod/shop", { json: {} })
    assert.strictEqual(messageOf(mcp), "404 There is no such environment")
    assert.strictEqual((await server.call("GET", "/v1/projects")).status, 200)
    assert.deepStrictEqual(requested, [])
  })
})
