/** Cancelling pending deliveries over HTTP, and the deliveries of removed projects. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

/** Publishes an event whose delivery waits for an hour. */
const waits = (event_type: string) =>
  server.call("POST", "/v1/events", { json: { event_type, event_data: { total: 1 }, delay: "1h" } })

const cancel = async (query: string) => (await server.call("POST", `/v1/deliveries/cancel${query}`)).json

describe("POST /deliveries/cancel", () => {
  it("cancels by function, event type and project, and answers with the number", async () => {
    for (const type of ["order:created", "order:created", "order:cancelled"]) await waits(type)
    assert.deepStrictEqual((await cancel("?fn=main/nothing")).data, { cancelled: 0 })
    assert.deepStrictEqual((await cancel("?event_type=order:cancelled")).data, { cancelled: 1 })
    assert.deepStrictEqual((await cancel("?fn=shop:main/onOrder&project=shop")).data, { cancelled: 2 })
    assert.deepStrictEqual((await cancel("")).data, { cancelled: 0 })
    const entries = await server.call("GET", "/v1/audit?action=deliveries.cancel&limit=3")
    const [, shop] = entries.json.data
    assert.deepStrictEqual(shop.details, { project: "shop", fn: "shop:main/onOrder", cancelled: 2 })
  })

  it("rejects an invalid function", async () => {
    const { status, json } = await server.call("POST", "/v1/deliveries/cancel?fn=main")
    assert.deepStrictEqual([status, json.error.code], [400, "bad_request"])
    assert.strictEqual(json.error.message, "fn must be a function reference: ns/var or project:ns/var")
  })
})

describe("DELETE /projects/{project}", () => {
  it("ends running runs as cancelled and discards pending deliveries", async () => {
    await waits("order:created")
    const { run_id } = (await server.call("POST", "/v1/calls", { json: { fn: "main/hang" } })).json.data
    assert.strictEqual((await server.call("DELETE", "/v1/projects/shop")).status, 204)
    const run = async () => (await server.call("GET", `/v1/runs/${run_id}`)).json.data.status
    while ((await run()) === "running");
    assert.strictEqual(await run(), "cancelled")
    for (let cancelled = 1; cancelled > 0; ) cancelled = (await cancel("?project=shop")).data.cancelled
    assert.strictEqual((await server.call("GET", "/v1/runs/stats")).json.data.running, 0)
  })
})
