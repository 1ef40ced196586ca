import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "../server/TestServer.ts"
import { document } from "./Operations.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const contentOf = (html: string, tag: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag.split(" ")[0]}>`, "g"))].map(([, content = ""]) => content)

describe("/docs", () => {
  it("is a page with the document and its renderer", async () => {
    const reply = await server.call("GET", "/docs", { token: null })
    assert.strictEqual(reply.status, 200)
    assert.strictEqual(reply.headers.get("content-type"), "text/html; charset=utf-8")
    const [embedded = ""] = contentOf(reply.text, 'script id="swagger-spec" type="application/json"')
    assert.deepStrictEqual(JSON.parse(embedded), JSON.parse(JSON.stringify(document)))
    assert.include(reply.text, "SwaggerUIBundle({")
  })

  it("loads nothing from other servers: its policy allows its own scripts by hash", async () => {
    const { headers, text } = await server.call("GET", "/docs", { token: null })
    const policy = headers.get("content-security-policy") ?? ""
    const hashes = contentOf(text, "script").map(
      (script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
    )
    assert.isNotEmpty(hashes)
    assert.include(policy, `script-src ${hashes.join(" ")};`)
    for (const rule of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.include(policy, rule)
    const shell = text.replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
    assert.notMatch(shell, /\b(src|href)=/)
  })

  it("is a single page: other methods and subpaths are 404", async () => {
    assert.strictEqual((await server.call("POST", "/docs")).status, 404)
    assert.strictEqual((await server.call("GET", "/docs/more")).status, 404)
  })
})
