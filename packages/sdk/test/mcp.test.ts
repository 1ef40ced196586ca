/** Resources, prompts and `svc.mcp` of the SDK and its test kit. */
import { describe, expect, it } from "vitest"
import { prompt, resource, type ToolResult, tool } from "../src/index.ts"
import { testEnv } from "../src/testing/index.ts"

const order = resource(
  { service: "crm", uri: "orders://{id}", mimeType: "application/json", timeout: "1s" },
  ({ uri, params }, svc) => ({ uri, id: params.id, same: svc.resource.uri === uri })
)

const review = prompt(
  { service: "crm", arguments: [{ name: "id", required: true, complete: ["7"] }] },
  ({ id = "" }, svc) => `Review ${id} of ${Object.keys(svc.prompt)}`
)

const ask = tool(
  { service: "crm", output: { type: "object" }, annotations: { readOnlyHint: true } },
  async (_, svc) => {
    await svc.mcp.log({ level: "info", data: { asked: true } })
    await svc.mcp.progress({ progress: 1, total: 2 })
    const { content } = await svc.mcp.sample({
      messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
      maxTokens: 10
    })
    await svc.mcp.updated("orders://7")
    return { content: [content], structuredContent: {} } satisfies ToolResult
  }
)

describe("entries for MCP clients", () => {
  it("have their options as metadata", () => {
    expect(order.meta).toEqual({
      resource: { service: "crm", uri: "orders://{id}", mimeType: "application/json" },
      timeout: "1s"
    })
    expect(review.meta.prompt.arguments).toEqual([{ name: "id", required: true, complete: ["7"] }])
    expect(ask.meta.tool).toEqual({ service: "crm", output: { type: "object" }, annotations: { readOnlyHint: true } })
  })

  it("run in the test kit", async () => {
    const env = testEnv()
    const read = await env.resource(order, { uri: "orders://7", params: { id: "7" } })
    expect(read.result).toEqual({ uri: "orders://7", id: "7", same: true })
    expect((await env.prompt(review, { id: "7" })).result).toBe("Review 7 of id")
  })
})

describe("svc.mcp", () => {
  it("refuses requests without a client, and uses fakes", async () => {
    const failed = await testEnv().tool(ask, {})
    expect(failed).toMatchObject({ status: "failed", error: { name: "NotSupported" } })
    const sample = { role: "assistant", content: { type: "text", text: "Hello" }, model: "fake" } as const
    const run = await testEnv({ svc: { "mcp.sample": () => sample } }).tool(ask, {})
    expect(run.result).toEqual({ content: [sample.content], structuredContent: {} })
  })
})
