/** Origins of web pages and OAuth metadata of the MCP routes. */
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { isAllowedOrigin } from "../../src/mcp/OriginCheck.ts"
import { startWeft, TestServer } from "../server/TestServer.ts"
import { everything, service } from "./everything.ts"

let server: TestServer
const path = `/mcp/acme/prod/${service}`
const issuer = "https://auth.example.net"
const page = "https://app.example.net"

beforeAll(async () => {
  const mcp = { origins: [page], authorizationServers: [issuer] }
  server = await TestServer.start({ mcp }, null, startWeft({ sandbox: trustedSandbox({ everything }) }))
  await server.deploy("everything", "everything")
})
afterAll(() => server.close())

const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
const metadataUrl = `https://weft.example.net/.well-known/oauth-protected-resource${path}`

describe("OAuth metadata", () => {
  it("names the resource and its authorization servers", async () => {
    const reply = await server.call("GET", `/.well-known/oauth-protected-resource${path}`, { token: null })
    assert.strictEqual(reply.status, 200)
    assert.deepStrictEqual(reply.json, {
      resource: `https://weft.example.net${path}`,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: [`mcp:${service}`],
      resource_name: `${service} (acme/prod)`
    })
    const other = await server.call("GET", "/.well-known/oauth-protected-resource/v1/status", { token: null })
    assert.strictEqual(other.status, 404)
  })

  it("is named by responses to a missing credential or permission", async () => {
    const missing = await server.call("POST", path, { json: ping, token: null })
    assert.strictEqual(missing.status, 401)
    assert.strictEqual(
      missing.headers.get("www-authenticate"),
      `Bearer resource_metadata="${metadataUrl}", scope="mcp:${service}"`
    )
    const { token } = await server.key({ "mcp:other": ["execute"] })
    const forbidden = await server.call("POST", path, { json: ping, token })
    assert.strictEqual(forbidden.status, 403)
    assert.strictEqual(
      forbidden.headers.get("www-authenticate"),
      `Bearer error="insufficient_scope", scope="mcp:${service}", resource_metadata="${metadataUrl}"`
    )
  })

  it("does not exist without authorization servers", async () => {
    const plain = await TestServer.start({}, null, startWeft({ sandbox: trustedSandbox({ everything }) }))
    const reply = await plain.call("GET", `/.well-known/oauth-protected-resource${path}`, { token: null })
    assert.strictEqual(reply.status, 404)
    assert.strictEqual(
      (await plain.call("POST", path, { json: ping, token: null })).headers.get("www-authenticate"),
      "Bearer"
    )
    await plain.close()
  })
})

describe("the origin of a web page", () => {
  it("is checked before the credential", async () => {
    const post = async (origin: string) => (await server.call("POST", path, { json: ping, headers: { origin } })).status
    assert.deepStrictEqual(
      await Promise.all([page, "https://weft.example.net", "https://evil.example", "null"].map(post)),
      [200, 200, 403, 403]
    )
  })

  it("is not accepted because the host is equal, unless both are the loopback", () => {
    const rules = { allowed: [], publicUrl: null }
    assert.isTrue(isAllowedOrigin(undefined, "evil.example", rules))
    assert.isFalse(isAllowedOrigin("http://evil.example", "evil.example", rules))
    assert.isFalse(isAllowedOrigin("http://localhost:1", "localhost:2", rules))
    for (const host of ["localhost:8787", "127.0.0.1", "[::1]:80"]) {
      const origin = new URL(`http://${host}`)
      assert.isTrue(isAllowedOrigin(origin.origin, origin.host, rules), host)
    }
  })
})
