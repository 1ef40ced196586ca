import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const open = async (): Promise<string> => (await server.call("POST", "/v1/repl", { json: {} })).json.data.repl_id
const input = (id: string, json: unknown) => server.call("POST", `/v1/repl/${id}/input`, { json })

describe("/repl", () => {
  it("evaluates inputs of a session with result, text, log and usage", async () => {
    const opened = await server.call("POST", "/v1/repl", { json: {} })
    assert.strictEqual(opened.status, 201)
    assert.deepInclude(opened.json.data, { project_name: null, build_id: null, inputs: 0, busy: false })
    const { repl_id, created_at, expires_at } = opened.json.data
    assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 600_000)
    await input(repl_id, { source: "const sum = 3" })
    const { status, json } = await input(repl_id, { source: "(svc.log.info('now'), [sum])" })
    assert.strictEqual(status, 200)
    assert.deepInclude(json.data, { run_type: "repl", status: "succeeded", text: "[3]", ended: null, cpu_ms: 0 })
    assert.deepStrictEqual(json.data.result, [3])
    assert.deepInclude(json.data.logs[1], { level: "info", message: "now" })
    const listed = await server.call("GET", "/v1/runs?type=repl&limit=1")
    assert.strictEqual(listed.json.data[0].run_id, json.data.run_id)
    const failed = await input(repl_id, { source: "nothing.at.all" })
    assert.deepInclude(failed.json.data, { status: "failed", text: "", ended: null })
  })

  it("lists and closes the sessions of the credential", async () => {
    const id = await open()
    const other = (await server.key({ "*:*": ["*"] })).token
    const idsOf = async (token?: string) =>
      (await server.call("GET", "/v1/repl?limit=100", token === undefined ? {} : { token })).json.data.map(
        ({ repl_id }: { readonly repl_id: string }) => repl_id
      )
    assert.include(await idsOf(), id)
    assert.deepStrictEqual(await idsOf(other), [])
    assert.strictEqual((await server.call("DELETE", `/v1/repl/${id}`, { token: other })).status, 404)
    assert.strictEqual((await server.call("DELETE", `/v1/repl/${id}`)).status, 204)
    const gone = await input(id, { source: "1" })
    assert.strictEqual(gone.status, 404)
    assert.include(gone.json.error.message, "it was closed, and its variables are gone")
  })

  it("returns 400 with the field or the position of the fault, and 409 busy while an input runs", async () => {
    const id = await open()
    for (const [json, named] of [
      [{}, "source"],
      [{ source: "1 +" }, "Unexpected end of the input"],
      [{ source: "1", timeout: 61 }, "timeout"]
    ] as const) {
      const { status, json: body } = await input(id, json)
      assert.strictEqual(status, 400, JSON.stringify(json))
      assert.include(body.error.message, named)
    }
    const waiting = input(id, { source: "new Promise((done) => setTimeout(done, 300))" })
    let busy = await input(id, { source: "1" })
    for (let tries = 0; tries < 50 && busy.status === 200; tries++) busy = await input(id, { source: "1" })
    assert.strictEqual(busy.status, 409)
    assert.strictEqual(busy.json.error.code, "busy")
    assert.strictEqual((await waiting).status, 200)
  })

  it("completes names", async () => {
    const id = await open()
    await input(id, { source: "const total = 1" })
    const { json } = await server.call("POST", `/v1/repl/${id}/complete`, { json: { source: "to", cursor: 2 } })
    assert.deepStrictEqual(json.data, { from: 0, candidates: ["total"] })
  })
})
