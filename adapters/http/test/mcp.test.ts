/** Tools for models, with the protocol's official client over real HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { startWeft, TestServer, uploadForm } from "./server/TestServer.ts"

interface Svc {
  readonly caller: unknown
  readonly run: { readonly run_type: string }
  readonly signal: AbortSignal
  readonly tool: unknown
}

const tool = (name: string, input: unknown, service = "crm", timeout?: string) => ({
  meta: { tool: { service, name, description: `Description of ${name}`, input }, ...(timeout ? { timeout } : {}) }
})

/** Names of runs that were interrupted. */
const stopped: Array<string> = []

const crm: TrustedModule = {
  main: {
    lookup: Object.assign(
      (args: { readonly id: string }, svc: Svc) => ({ found: args.id, type: svc.run.run_type, caller: svc.caller }),
      tool("lookup", {
        type: "object",
        properties: { id: { type: "string", minLength: 2 } },
        required: ["id"],
        additionalProperties: false
      })
    ),
    add: Object.assign((args: { readonly a: number; readonly b: number }) => args.a + args.b, tool("add", {})),
    nothing: Object.assign(() => undefined, tool("nothing", undefined)),
    fails: Object.assign(
      () => {
        throw new RangeError("too far")
      },
      tool("fails", {})
    ),
    slow: Object.assign(
      (_: unknown, svc: Svc) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, 20_000)
          svc.signal.addEventListener("abort", () => {
            clearTimeout(timer)
            stopped.push("slow")
            resolve(null)
          })
        }),
      tool("slow", {})
    ),
    late: Object.assign(() => new Promise((resolve) => setTimeout(resolve, 5000)), tool("late", {}, "crm", "50ms")),
    pattern: Object.assign(() => "in", tool("pattern", { properties: { a: { type: "string", pattern: "^(a+)+$" } } })),
    circle: Object.assign(() => "in", tool("circle", { $ref: "#" })),
    elsewhere: Object.assign(() => "there", tool("elsewhere", {}, "billing")),
    unstored: Object.assign(
      ({ fail }: { readonly fail?: boolean }) => {
        if (fail === true) throw new RangeError("too far")
        return "unstored"
      },
      { meta: { ...tool("unstored", {}, "billing").meta, record: "none" } }
    )
  }
}
/** Schemas whose evaluation never ends. */
const floodTools = Array.from({ length: 40 }, (_, index) => `flood${index}`)
const flood: TrustedModule = {
  main: Object.fromEntries(
    floodTools.map((name) => [
      name,
      Object.assign(() => "in", tool(name, { properties: { a: { type: "string", pattern: "^(a+)+$" } } }, "flood"))
    ])
  )
}
const second: TrustedModule = { main: { more: Object.assign(() => "more", tool("more", {})) } }

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({}, null, startWeft({ sandbox: trustedSandbox({ crm, flood, second }) }))
  await server.deploy("crm", "crm")
  await server.deploy("second", "second")
})
afterAll(() => server.close())

const path = "/mcp/acme/prod/crm"

const connected = async (token = server.token, at = path): Promise<Client> => {
  const client = new Client({ name: "test", version: "1" })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const url = new URL(`${server.listening.url}${at}`)
  // It implements the interface, except for `undefined` in optional fields.
  const transport = new StreamableHTTPClientTransport(url, { requestInit }) as Transport
  await client.connect(transport)
  return client
}

/** Deploys the module in the environment of the credential. */
const deploy = async (name: string, token: string): Promise<void> => {
  await server.call("POST", "/v1/projects", { token, json: { name } })
  const { build_id } = (await server.upload(name, name, {}, { token, body: uploadForm(name) })).json.data
  const deployed = await server.call("POST", `/v1/projects/${name}/builds/${build_id}/deploy`, { token })
  assert.strictEqual(deployed.status, 200, deployed.text)
}

const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("")

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
  CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))

const lastRun = async () => (await server.call("GET", "/v1/runs?limit=1")).json.data[0]

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
}
const accept = { accept: "application/json, text/event-stream" }

describe("the tools of a service", () => {
  it("are listed by name, from all builds, with their schemas", async () => {
    const client = await connected()
    assert.deepStrictEqual(client.getServerVersion(), { name: "crm", version: "1.2.3" })
    const { tools } = await client.listTools()
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      ["add", "circle", "fails", "late", "lookup", "more", "nothing", "pattern", "slow"]
    )
    const lookup = tools.find(({ name }) => name === "lookup")
    assert.deepStrictEqual(
      [lookup?.description, lookup?.inputSchema.type, lookup?.inputSchema.required],
      ["Description of lookup", "object", ["id"]]
    )
    await client.close()
    const other = await connected(server.token, "/mcp/acme/prod/billing")
    assert.deepStrictEqual((await other.listTools()).tools.length, 2)
    await other.close()
  })

  it("change with the deployed build", async () => {
    const client = await connected()
    assert.strictEqual((await server.call("DELETE", "/v1/projects/second")).status, 204)
    assert.notInclude(
      (await client.listTools()).tools.map(({ name }) => name),
      "more"
    )
    await server.deploy("second", "second")
    assert.strictEqual(textOf(await call(client, "more")), '"more"')
    await client.close()
  })
})

describe("a tool call", () => {
  it("runs the function and returns its result, as text and as an object", async () => {
    const { key, token } = await server.key({ "mcp:crm": ["execute"] })
    const client = await connected(token)
    const result = await call(client, "lookup", { id: "ab" })
    assert.isUndefined(result.isError)
    assert.deepInclude(result.structuredContent, { found: "ab", type: "call" })
    const caller = Object(result.structuredContent).caller
    assert.deepStrictEqual([caller.type, caller.id], ["api-key", key.api_key_id])
    assert.deepStrictEqual(JSON.parse(textOf(result)), result.structuredContent)

    const sum = await call(client, "add", { a: 1, b: 2 })
    assert.deepStrictEqual([textOf(sum), sum.structuredContent], ["3", undefined])
    assert.strictEqual(textOf(await call(client, "nothing")), "null")
    await client.close()
  })

  it("is a run, whose log has the name of the tool without the arguments", async () => {
    const client = await connected()
    await call(client, "lookup", { id: "secret-argument" })
    const run = await lastRun()
    assert.deepStrictEqual([run.run_type, run.status, run.event_id], ["call", "succeeded", null])
    const { data } = (await server.call("GET", `/v1/runs/${run.run_id}/logs`)).json
    assert.deepInclude(data[0], {
      seq: 0,
      level: "info",
      message: "tool call",
      data: { service: "crm", tool: "lookup" }
    })
    await client.close()
  })

  it("returns a tool error with name and message, but no stack, if the function fails", async () => {
    const client = await connected()
    const result = await call(client, "fails")
    assert.deepStrictEqual([result.isError, textOf(result)], [true, "RangeError: too far"])
    assert.strictEqual((await lastRun()).status, "failed")
    const late = await call(client, "late")
    assert.deepStrictEqual(
      [late.isError, textOf(late)],
      [true, "TimedOut: The run took longer than its timeout of 50 ms"]
    )
    await client.close()
  })

  it("with record none returns its result or its error, without a stored run", async () => {
    const client = await connected(server.token, "/mcp/acme/prod/billing")
    const { run_id } = await lastRun()
    assert.strictEqual(textOf(await call(client, "unstored")), '"unstored"')
    const failed = await call(client, "unstored", { fail: true })
    assert.deepStrictEqual([failed.isError, textOf(failed)], [true, "RangeError: too far"])
    assert.strictEqual((await lastRun()).run_id, run_id)
    await client.close()
  })

  it("with invalid arguments runs nothing, and describes the fault", async () => {
    const client = await connected()
    const { run_id } = await lastRun()
    for (const [args, word] of [
      [{}, "id"],
      [{ id: 7 }, "string"],
      [{ id: "a" }, "short"],
      [{ id: "ab", more: 1 }, "more"]
    ] as const) {
      const result = await call(client, "lookup", args)
      assert.isTrue(result.isError)
      assert.match(textOf(result), /^The arguments are not valid: /)
      assert.include(textOf(result), word)
    }
    assert.strictEqual((await lastRun()).run_id, run_id)
    await client.close()
  })

  it("times out if the schema cannot be evaluated, while other calls continue", async () => {
    const client = await connected()
    const hostile = { a: `${"a".repeat(60)}!` }
    const started = call(client, "pattern", hostile)
    assert.strictEqual((await fetch(`${server.listening.url}/healthz`)).status, 200)
    const first = await started
    assert.deepStrictEqual(
      [first.isError, textOf(first)],
      [true, "The arguments are not valid: the input schema of the tool takes too long to check"]
    )
    assert.isTrue((await call(client, "pattern", { a: "a" })).isError)
    assert.isTrue((await call(client, "circle")).isError)
    assert.strictEqual(textOf(await call(client, "add", { a: 2, b: 2 })), "4")
    await client.close()
  })

  it("is handled soon while another environment calls many such tools at once", async () => {
    const env = await server.weft.envs.create("acme", { name: "flooding" })
    const token = Redacted.value((await server.weft.apiKeys.create(env.env_id, {})).token)
    await deploy("flood", token)
    const [flooding, client] = [await connected(token, "/mcp/acme/flooding/flood"), await connected()]
    const hostile = { a: `${"a".repeat(60)}!` }
    // The thread has started.
    assert.strictEqual(textOf(await call(client, "add", { a: 1, b: 1 })), "2")
    const answers = Promise.all(floodTools.map(async (name) => textOf(await call(flooding, name, hostile))))
    // They are waiting for the thread.
    await new Promise((resolve) => setTimeout(resolve, 100))
    const began = performance.now()
    assert.strictEqual(textOf(await call(client, "add", { a: 1, b: 2 })), "3")
    assert.isBelow(performance.now() - began, 5000)
    const unending = (await answers).filter((text) => text.includes("the input schema of the tool takes too long"))
    assert.isAtMost(unending.length, 2)
    for (const text of await answers) assert.match(text, /takes? too long to check|try again later/)
    assert.match(textOf(await call(flooding, "flood39", { a: "a" })), /try again in 5 minutes|takes too long/)
    assert.strictEqual(textOf(await call(client, "add", { a: 2, b: 2 })), "4")
    await Promise.all([flooding.close(), client.close()])
  })

  it("of an unknown tool is a protocol error", async () => {
    const client = await connected()
    const error: unknown = await client.callTool({ name: "elsewhere" }).catch((thrown: unknown) => thrown)
    assert.strictEqual(Object(error).code, -32602)
    await client.close()
  })

  it("is interrupted when its client cancels it, without affecting other calls", async () => {
    const [client, other] = [await connected(), await connected()]
    stopped.length = 0
    const abort = new AbortController()
    // Both have the same request id in the protocol.
    const cancelled = client.callTool({ name: "slow" }, undefined, { signal: abort.signal }).catch(() => "cancelled")
    const goesOn = other.callTool({ name: "slow" }).catch(() => "ended")
    await new Promise((resolve) => setTimeout(resolve, 300))
    abort.abort("enough")
    assert.strictEqual(await cancelled, "cancelled")
    const cancelledRuns = async () => (await server.call("GET", "/v1/runs?status=cancelled")).json.data
    while ((await cancelledRuns()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.strictEqual(stopped.length, 1)
    const [run] = await cancelledRuns()
    assert.strictEqual(run.result.error.name, "Cancelled")
    await Promise.all([client.close(), other.close()])
    await goesOn
  })
})

describe("an MCP route", () => {
  const post = (token: string | null, at = path) =>
    server.call("POST", at, { token, json: initialize, headers: accept })

  it("requires mcp: execute on the environment's service", async () => {
    assert.strictEqual((await post(null)).status, 401)
    assert.strictEqual((await post("svc_wrong")).status, 401)
    assert.strictEqual((await post((await server.key({ "webhook:*": ["*"] })).token)).status, 403)
    assert.strictEqual((await post((await server.key({ "mcp:billing": ["execute"] })).token)).status, 403)
    assert.strictEqual((await post((await server.key({ "mcp:crm": ["execute"] })).token)).status, 200)
    const env = await server.weft.envs.create("acme", { name: "other" })
    assert.strictEqual((await post(server.token, "/mcp/acme/other/crm")).status, 401)
    assert.strictEqual(env.name, "other")
  })

  it("returns 404 for a service without tools", async () => {
    for (const at of [
      "/mcp/acme/prod/none",
      "/mcp/acme/none/crm",
      "/mcp/none/prod/crm",
      "/mcp/acme/prod",
      `${path}/x`
    ]) {
      assert.strictEqual((await post(server.token, at)).status, 404, at)
    }
  })

  it("accepts one message by POST, and other methods with a session only", async () => {
    const put = await server.call("PUT", path, { headers: accept })
    assert.deepStrictEqual([put.status, put.headers.get("allow")], [405, "DELETE, GET, POST"])
    for (const method of ["GET", "DELETE"]) {
      assert.strictEqual((await server.call(method, path, { headers: accept })).status, 400)
    }
    // Some clients send no `accept` header.
    assert.strictEqual((await server.call("POST", path, { json: initialize })).status, 200)
    const json = { headers: { ...accept, "content-type": "application/json" } }
    assert.strictEqual((await server.call("POST", path, { ...json, body: "{" })).status, 400)
    assert.strictEqual((await server.call("POST", path, { ...accept, json: [initialize, initialize] })).status, 400)
  })

  it("gives each client a separate session, valid on every node", async () => {
    const [first, again] = [await post(server.token), await post(server.token)]
    const [a, b] = [first, again].map(({ headers }) => headers.get("mcp-session-id"))
    assert.isNotNull(a)
    assert.notStrictEqual(a, b)
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" }
    const reply = await server.call("POST", path, {
      json: list,
      headers: { ...accept, "mcp-session-id": "another-node's" }
    })
    assert.strictEqual(reply.json.result.tools.length, 9)
  })
})

describe("the plan", () => {
  it("limits messages by its rate, and calls by its run quota", async () => {
    const limited = await TestServer.start(
      {},
      null,
      startWeft({ sandbox: trustedSandbox({ crm }), plans: { Free: { requests_per_second: 20, runs_per_month: 1 } } })
    )
    await limited.deploy("crm", "crm")
    await limited.weft.orgs.update("acme", { plan: "Free" })
    const add = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 1 } } }
    const post = () => limited.call("POST", path, { json: add, headers: accept })
    assert.strictEqual((await post()).json.result.content[0].text, "2")
    let refused = await post()
    // Usage is counted with a delay.
    for (let tries = 0; refused.json.error === undefined && tries < 10; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      refused = await post()
    }
    assert.match(refused.json.error.message, /runs/)

    const replies = await Promise.all(Array.from({ length: 40 }, post))
    const late = replies.find(({ status }) => status === 429)
    assert.strictEqual(late?.json.error.code, "rate_limit_exceeded")
    await limited.close()
  })
})
