/** The tool `run_code` of MCP services, in real isolates. */
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createWeft, type TenantHandle, type Weft } from "weft"

const source = `
const tool = (name, input, more) => ({ tool: { service: "crm", name, description: "Of " + name, input, ...more } })
const id = { type: "object", properties: { id: { type: "integer", description: "The id */" } }, required: ["id"] }
export const price = ({ id }) => ({ price: id * 10 })
const output = { type: "object", properties: { price: { type: "number" } }, required: ["price"] }
price.meta = tool("price", id, { output })
export const fails = () => { throw new RangeError("too far") }
fails.meta = tool("fails", { type: "object" })
export const kinds = () => "ok"
kinds.meta = tool("of-kinds", {
  type: "object",
  properties: { kind: { enum: ["a", "b"] }, tags: { type: "array", items: { type: "string" } } }
})
`

interface Answer {
  readonly result?: {
    readonly tools?: ReadonlyArray<{ readonly name: string; readonly description: string }>
    readonly structuredContent?: unknown
    readonly isError?: boolean
    readonly content?: ReadonlyArray<{ readonly text: string }>
  }
  readonly error?: { readonly message: string }
}

let dataDir: string
let weft: Weft
let tenant: TenantHandle
let url: string
let close: () => Promise<void>

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-run-code-"))
  weft = await createWeft({ dataDir, http: { mcp: { runCode: true } } })
  tenant = await weft.tenants.ensure({ org: "acme" })
  const zip = zipSync({ "index.js": new TextEncoder().encode(source) })
  await tenant.projects.create({ name: "crm" })
  const { build } = await tenant.builds.upload("crm", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await tenant.builds.deploy("crm", build.id)
  const listening = await weft.listen({ port: 0 })
  url = `${listening.url}/mcp/acme/production/crm`
  close = () => listening.close()
})

afterAll(async () => {
  await close?.()
  await weft?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const tokenOf = async (permissions: Readonly<Record<string, ReadonlyArray<string>>>): Promise<string> =>
  (await weft.apiKeys.create(tenant.id, { permissions })).token

const send = async (method: string, params: object, token: string): Promise<Answer> => {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  return JSON.parse(await response.text())
}

const all = { "*:*": ["*"] }

const runCode = async (code: unknown, permissions: Parameters<typeof tokenOf>[0] = all): Promise<Answer> =>
  send("tools/call", { name: "run_code", arguments: { code } }, await tokenOf(permissions))

const textOf = ({ result, error }: Answer): string =>
  [...(result?.content ?? []).map(({ text }) => text), error?.message ?? ""].join("\n")

describe("run_code", () => {
  it("describes the other tools in TypeScript", async () => {
    const { result } = await send("tools/list", {}, await tokenOf(all))
    const description = result?.tools?.find(({ name }) => name === "run_code")?.description
    expect(description).toContain(
      "  /** Of price */\n  price(input: { /** The id * / */ id: number }): Promise<{ price: number }>\n"
    )
    expect(description).toContain('"of-kinds"(input: { kind?: "a" | "b"; tags?: Array<string> }): Promise<any>')
  })

  it("runs code that uses the tools, and returns its result and its log", async () => {
    const code = `
      const prices: Array<number> = []
      for (const id of [1, 2, 3]) prices.push((await tools.price({ id })).price)
      console.log("asked", prices.length)
      return { total: prices.reduce((a, b) => a + b), kinds: await tools["of-kinds"]({ kind: "a" }) }`
    const { result } = await runCode(code)
    expect(result?.structuredContent).toEqual({ result: { total: 60, kinds: "ok" }, log: ["info: asked 3"] })
    const types = (await tenant.runs.list()).items.map(({ type }) => type)
    expect(types.sort()).toEqual(["call", "call", "call", "call", "eval"])
  })

  it("returns the errors of the code and of tools", async () => {
    const thrown = await runCode("throw new RangeError('no')")
    expect(thrown.result?.isError).toBe(true)
    expect(textOf(thrown)).toContain('"name":"RangeError","message":"no"')
    const caught = await runCode("try { await tools.fails({}) } catch (error) { return [error.name, error.message] }")
    expect(caught.result?.structuredContent).toEqual({ result: ["RangeError", "too far"], log: [] })
    const invalid = await runCode("try { await tools.price({ id: 'x' }) } catch (error) { return error.message }")
    expect(textOf(invalid)).toContain("The arguments of price are not valid")
    expect(textOf(await runCode("await tools.nothing({})"))).toContain("There is no tool")
    expect(textOf(await runCode("return +"))).toContain("eval.ts:1:")
    expect(textOf(await runCode(7))).toContain("The argument `code` must be a string")
  })

  it("runs with exactly the permissions of the caller", async () => {
    const publish =
      "try { await svc.events.publish({ type: 'a', data: 1 }); return 'sent' } catch (e) { return e.name }"
    const some = { "mcp:crm": ["execute"], "eval:*": ["execute"] }
    expect((await runCode(publish, some)).result?.structuredContent).toEqual({ result: "Forbidden", log: [] })
    expect((await runCode(publish)).result?.structuredContent).toEqual({ result: "sent", log: [] })
  })

  it("is offered only to callers with eval: execute", async () => {
    const lacking = { "mcp:crm": ["execute"] }
    const { result } = await send("tools/list", {}, await tokenOf(lacking))
    expect(result?.tools?.map(({ name }) => name)).not.toContain("run_code")
    expect(textOf(await runCode("return 1", lacking))).toContain("There is no tool")
  })
})
