/** Tenants that webhooks ask for before anybody has made them, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import type { HostProvisioning } from "@weft/core"
import { afterEach } from "vitest"
import { type Reply, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer
afterEach(() => server.close())

/** A host that admits whoever's name begins with `new`, and notes what it was asked for. */
const withHost = async (limits: Omit<HostProvisioning, "admit"> = {}): Promise<Array<string>> => {
  const asked: Array<string> = []
  const admit: HostProvisioning["admit"] = ({ org, env }) => {
    asked.push(`${org}/${env}`)
    if (org === "broken") throw new Error("postgres://user:password@host/db does not answer")
    return org.startsWith("new") ? { plan: "Pro" } : null
  }
  server = await TestServer.start({}, undefined, startWeft({ provisioning: { ...limits, admit } }))
  return asked
}

const hook = (org: string): Promise<Reply> => server.call("POST", `/webhook/${org}/prod/shop/echo`, { json: {} })

const messageOf = ({ status, json }: Reply): string => `${status} ${json.error.message}`

describe("webhooks of tenants that are not there", () => {
  it("find those that the host admits, and nobody else", async () => {
    const asked = await withHost()
    assert.strictEqual(messageOf(await hook("new-one")), "404 There is no such webhook endpoint")
    assert.strictEqual((await server.weft.orgs.get("new-one")).plan, "Pro")
    assert.strictEqual(messageOf(await hook("stranger")), "404 There is no such environment")
    assert.strictEqual(messageOf(await hook("stranger")), "404 There is no such environment")
    assert.strictEqual(messageOf(await hook("new%2Fone")), "404 There is no such environment")
    assert.deepStrictEqual(asked, ["new-one/prod", "stranger/prod"])
  })

  it("are told to come back when the host is asked too often, or does not answer; not why", async () => {
    await withHost({ asksPerSecond: 1 })
    const outage = await hook("broken")
    assert.strictEqual(outage.status, 500)
    assert.strictEqual(outage.headers.get("retry-after"), "1")
    assert.notInclude(outage.text, "postgres")
    // One of them comes within the same second as the one before.
    const replies = [await hook("a"), await hook("b"), await hook("c")]
    const late = replies.find(({ status }) => status === 429)
    assert.isDefined(late)
    assert.strictEqual(late.headers.get("retry-after"), "1")
    assert.strictEqual(late.json.error.code, "rate_limit_exceeded")
  })
})

describe("what comes with a credential", () => {
  it("asks for no tenant: the credential's is there", async () => {
    const asked = await withHost()
    const mcp = await server.call("POST", "/mcp/new-one/prod/shop", { json: {} })
    assert.strictEqual(messageOf(mcp), "404 There is no such environment")
    assert.strictEqual((await server.call("GET", "/v1/projects")).status, 200)
    assert.deepStrictEqual(asked, [])
  })
})
