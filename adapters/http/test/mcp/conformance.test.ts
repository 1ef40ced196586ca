/** The official conformance suite of the Model Context Protocol, against a build with what it expects. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { startWeft, TestServer } from "../server/TestServer.ts"
import { type CredentialProxy, openProxy } from "./CredentialProxy.ts"
import { everything, service } from "./everything.ts"

let server: TestServer
let proxy: CredentialProxy

beforeAll(async () => {
  const sandbox = trustedSandbox({ everything })
  server = await TestServer.start({ streamLifetimeMs: 60_000 }, null, startWeft({ sandbox }))
  await server.deploy("everything", "everything")
  proxy = await openProxy(server.listening.url, server.token)
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})

const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))

describe("the conformance suite of MCP", () => {
  it("passes with all scenarios for servers", { timeout: 120_000 }, async () => {
    const url = `${proxy.url}/mcp/acme/prod/${service}`
    const { code, output } = await new Promise<{ readonly code: unknown; readonly output: string }>((resolve) => {
      execFile(process.execPath, [suite, "server", "--url", url, "--suite", "all"], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, output: `${stdout}${stderr}` })
      )
    })
    const results = output.split("=== SUMMARY ===")[1]?.trim().split("\n") ?? []
    assert.deepStrictEqual(
      results.filter((line) => line.startsWith("✗")),
      [],
      output
    )
    assert.strictEqual(results.filter((line) => line.startsWith("✓")).length, 32, output)
    assert.strictEqual(code, 0)
  })
})
