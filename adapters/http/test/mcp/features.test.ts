/** Resources, prompts, structured results and messages to the client, with the protocol's official client. */
import { assert, describe, it } from "@effect/vitest"
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import {
  type CallToolResult,
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { startWeft, TestServer } from "../server/TestServer.ts"
import { everything, png, service } from "./everything.ts"
import { connectClient } from "./McpClient.ts"

let server: TestServer
const path = `/mcp/acme/prod/${service}`

beforeAll(async () => {
  server = await TestServer.start(
    { streamLifetimeMs: 60_000, heartbeatMs: 200 },
    null,
    startWeft({ sandbox: trustedSandbox({ everything }) })
  )
  await server.deploy("everything", "everything")
})
afterAll(() => server.close())

const connected = (capabilities = {}, prepare?: (client: Client) => void) =>
  connectClient(server, path, server.token, capabilities, prepare)

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
  CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))

const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("")

const failure = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  return { code: Object(error).code, message: String(Object(error).message) }
}

describe("a tool with an output schema", () => {
  it("is listed with it, its title and its annotations", async () => {
    const client = await connected()
    const tool = (await client.listTools()).tools.find(({ name }) => name === "weather")
    assert.deepInclude(tool, {
      title: "Weather",
      outputSchema: { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] },
      annotations: { readOnlyHint: true, openWorldHint: false }
    })
    await client.close()
  })

  it("returns results that match it, and an error for others", async () => {
    const client = await connected()
    const result = await call(client, "weather", { city: "Oslo" })
    assert.deepStrictEqual(result.structuredContent, { city: "Oslo", degrees: 21 })
    const wrong = await call(client, "weather")
    assert.isTrue(wrong.isError)
    assert.match(textOf(wrong), /^The result is not valid: .*number/)
    await client.close()
  })
})

describe("a result with content", () => {
  it("is a tool error that names the field if a block is not valid", async () => {
    const client = await connected()
    const result = await call(client, "broken")
    assert.isTrue(result.isError)
    assert.match(textOf(result), /^The function returned an invalid result: content\.0/)
    await client.close()
  })
})

describe("resources", () => {
  it("are listed apart from templates", async () => {
    const client = await connected()
    const { resources } = await client.listResources()
    assert.deepStrictEqual(
      resources.map(({ uri }) => uri),
      ["test://static-binary", "test://static-text", "test://watched-resource"]
    )
    const { resourceTemplates } = await client.listResourceTemplates()
    assert.deepInclude(resourceTemplates[0], { uriTemplate: "test://template/{id}/data", mimeType: "application/json" })
    await client.close()
  })

  it("return text, bytes and JSON, with the variables of a template decoded", async () => {
    const client = await connected()
    const binary = await client.readResource({ uri: "test://static-binary" })
    assert.deepStrictEqual(binary.contents, [{ uri: "test://static-binary", mimeType: "image/png", blob: png }])
    const uri = "test://template/a%20b/data"
    const { contents } = await client.readResource({ uri })
    assert.deepStrictEqual(contents, [
      { uri, mimeType: "application/json", text: '{"id":"a b","templateTest":true,"data":"Data for ID: a b"}' }
    ])
    await client.close()
  })

  it("answer with the protocol's error if they do not exist", async () => {
    const client = await connected()
    for (const uri of [
      "test://missing",
      "test://template/none/data",
      "test://template//data",
      "test://template/a/b/data"
    ]) {
      assert.strictEqual((await failure(client.readResource({ uri }))).code, -32002, uri)
    }
    assert.strictEqual((await failure(client.subscribeResource({ uri: "test://missing" }))).code, -32002)
    await client.close()
  })

  it("notify their subscribers only, until they unsubscribe", async () => {
    const seen: Array<string> = []
    const [uri, other] = ["test://watched-resource", "test://static-text"]
    const client = await connected({}, (it) =>
      it.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void seen.push(params.uri))
    )
    await client.subscribeResource({ uri })
    while (seen.length === 0) await call(client, "touch", { uri })
    await call(client, "touch", { uri: other })
    await client.unsubscribeResource({ uri })
    const count = seen.length
    await call(client, "touch", { uri })
    assert.deepStrictEqual([new Set(seen), seen.length], [new Set([uri]), count])
    await client.close()
  })

  it("accept at most 64 subscriptions of a session", async () => {
    const client = await connected()
    for (let id = 0; id < 64; id++) await client.subscribeResource({ uri: `test://template/${id}/data` })
    const { code, message } = await failure(client.subscribeResource({ uri: "test://template/64/data" }))
    assert.strictEqual(code, -32602)
    assert.include(message, "A session may subscribe to at most 64 resources")
    await client.close()
  })
})

describe("prompts", () => {
  it("are listed with their arguments, without their completions", async () => {
    const client = await connected()
    const prompt = (await client.listPrompts()).prompts.find(({ name }) => name === "test_prompt_with_arguments")
    assert.deepStrictEqual(prompt?.arguments, [
      { name: "arg1", description: "First", required: true },
      { name: "arg2", description: "Second", required: true }
    ])
    await client.close()
  })

  it("reject unknown names and missing arguments", async () => {
    const client = await connected()
    assert.include((await failure(client.getPrompt({ name: "none" }))).message, 'There is no prompt "none"')
    const missing = await failure(client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "a" } }))
    assert.deepStrictEqual([missing.code, missing.message.includes('needs the argument "arg2"')], [-32602, true])
    await client.close()
  })
})

describe("completions", () => {
  it("come from a list or from a function, which receives the other values", async () => {
    const client = await connected()
    const template = { type: "ref/resource", uri: "test://template/{id}/data" } as const
    const listed = await client.complete({ ref: template, argument: { name: "id", value: "12" } })
    assert.deepStrictEqual(listed.completion, { values: ["123", "124"], total: 2, hasMore: false })
    const computed = await client.complete({
      ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
      argument: { name: "arg1", value: "test" },
      context: { arguments: { arg2: "b" } }
    })
    assert.deepStrictEqual(computed.completion.values, ["testing", "tested", "b"])
    const none = await client.complete({ ref: template, argument: { name: "other", value: "" } })
    assert.deepStrictEqual(none.completion.values, [])
    await client.close()
  })
})

describe("messages to the client", () => {
  it("respect the log level of the session", async () => {
    const seen: Array<unknown> = []
    const client = await connected({}, (it) =>
      it.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.push(params.data))
    )
    await call(client, "test_tool_with_logging")
    assert.deepStrictEqual(seen, ["Tool execution started", "Tool processing data", "Tool execution completed"])
    await client.setLoggingLevel("warning")
    await call(client, "test_tool_with_logging")
    assert.strictEqual(seen.length, 3)
    await client.close()
  })

  it("are refused if the client does not support them", async () => {
    const client = await connected()
    const result = await call(client, "test_sampling", { prompt: "Hi" })
    assert.deepStrictEqual(
      [result.isError, textOf(result)],
      [true, "NotSupported: svc.mcp.sample: the MCP client of the run does not support it"]
    )
    await client.close()
  })

  it("return the answer of the client's model", async () => {
    const client = await connected({ sampling: {} }, (it) =>
      it.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
        role: "assistant",
        model: "test",
        content: { type: "text", text: `${params.messages.length} of ${params.maxTokens}` }
      }))
    )
    assert.strictEqual(textOf(await call(client, "test_sampling", { prompt: "Hi" })), "LLM response: 1 of 100")
    await client.close()
  })

  it("fail the call if the answer does not match the form, or the client refuses", async () => {
    const answers: Array<Record<string, string>> = [{ status: "unknown" }, { other: "a" }]
    const client = await connected({ elicitation: {} }, (it) =>
      it.setRequestHandler(ElicitRequestSchema, () => {
        const content = answers.shift()
        if (content === undefined) throw new Error("No")
        return { action: "accept", content }
      })
    )
    const texts: Array<string> = []
    for (let count = 0; count < 3; count++) {
      texts.push(textOf(await call(client, "test_elicitation_sep1034_defaults")))
    }
    assert.strictEqual(texts[0], 'ClientRefused: "status" does not match its field')
    assert.strictEqual(texts[1], 'ClientRefused: "other" is not a field of the form')
    assert.match(texts[2] ?? "", /^ClientRefused: .*No/)
    await client.close()
  })
})

describe("a session", () => {
  const open = async (token = server.token) => {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
    const json = { jsonrpc: "2.0", id: 1, method: "initialize", params }
    return (await server.call("POST", path, { json, token })).headers.get("mcp-session-id") ?? ""
  }

  it("ends with DELETE, and has no effect for another credential", async () => {
    const headers = { "mcp-session-id": await open() }
    const { token } = await server.key({ "mcp:*": ["execute"] })
    assert.strictEqual((await server.call("DELETE", path, { headers, token })).status, 204)
    assert.strictEqual((await server.call("DELETE", path, { headers })).status, 204)
    const answer = { jsonrpc: "2.0", id: "unknown.0", result: {} }
    assert.strictEqual((await server.call("POST", path, { headers, json: answer })).status, 202)
  })

  it("has a stream that ends when the permission is revoked", async () => {
    const { key, token } = await server.key({ "mcp:*": ["execute"] })
    const headers = { "mcp-session-id": await open(token) }
    const stream = await fetch(`${server.listening.url}${path}`, {
      headers: { ...headers, authorization: `Bearer ${token}` }
    })
    await server.weft.apiKeys.update(server.env.env_id, key.api_key_id, { enabled: false })
    assert.match(await stream.text(), /^: heartbeat\n/)
  })

  it("rejects unknown versions of the protocol, and bodies that are no messages", async () => {
    const json = { jsonrpc: "2.0", id: 1, method: "ping" }
    const wrong = await server.call("POST", path, { json, headers: { "mcp-protocol-version": "1999-01-01" } })
    assert.strictEqual(wrong.status, 400)
    assert.include(wrong.json.error.message, "mcp-protocol-version must be one of")
    assert.strictEqual((await server.call("POST", path, { json: { id: 1 } })).status, 400)
  })
})
