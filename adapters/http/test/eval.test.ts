import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const evaluate = (json: unknown, headers: Record<string, string> = {}) =>
  server.call("POST", "/v1/eval", { json, headers })

describe("POST /eval", () => {
  it("returns the run at its end, with result, log and usage", async () => {
    const source = "svc.log.warn('now', { a: 1 }); return { sum: args[0] + args[1] }"
    const { status, json } = await evaluate({ source, args: [1, 2] })
    assert.strictEqual(status, 200)
    assert.include(json.data, { run_type: "eval", status: "succeeded", cpu_ms: 0 })
    assert.deepStrictEqual(json.data.result, { sum: 3 })
    assert.deepInclude(json.data.logs[1], { level: "warn", message: "now", data: { a: 1 } })
    const listed = await server.call("GET", "/v1/runs?type=eval")
    assert.strictEqual(listed.json.data[0].run_id, json.data.run_id)
    const logs = await server.call("GET", `/v1/runs/${json.data.run_id}/logs`)
    assert.deepStrictEqual(logs.json.data, json.data.logs)
  })

  it("streams the log and then the result if the client accepts events", async () => {
    const source = "svc.log.info('first'); await new Promise((done) => setTimeout(done, 5)); return 'end'"
    const { status, text } = await evaluate({ source }, { accept: "text/event-stream" })
    assert.strictEqual(status, 200)
    const messages = text
      .trim()
      .split("\n\n")
      .map((block) => /^event: (\w+)\ndata: (.*)$/.exec(block))
    assert.deepStrictEqual(
      messages.map((message) => message?.[1]),
      ["log", "result"]
    )
    assert.deepInclude(JSON.parse(messages[0]?.[2] ?? ""), { message: "first" })
    assert.deepInclude(JSON.parse(messages[1]?.[2] ?? ""), { status: "succeeded", result: "end" })
  })

  it("returns 400 with the field or the position of the fault, also to a client that accepts events", async () => {
    for (const [json, named] of [
      [{}, "source"],
      [{ source: 1 }, "source"],
      [{ source: "1 +" }, "source: eval.ts"],
      [{ source: "1", args: 1 }, "args"],
      [{ source: "1", timeout: 61 }, "timeout"]
    ] as const) {
      for (const accept of ["application/json", "text/event-stream"]) {
        const { status, json: body } = await evaluate(json, { accept })
        assert.strictEqual(status, 400, JSON.stringify(json))
        assert.include(body.error.message, named)
      }
    }
  })

  it("audits evaluations, and requests without the permission", async () => {
    await evaluate({ source: "1" })
    const { json } = await server.call("GET", "/v1/audit?action=eval.run&outcome=done&limit=1")
    assert.match(json.data[0].details.source_sha256, /^[0-9a-f]{64}$/)
  })
})
