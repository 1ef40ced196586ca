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

describe("POST /dead-letters/redrive", () => {
  const post = async (action: string, json: object) =>
    (await server.call("POST", `/v1/dead-letters/${action}`, { json })).json.data

  const listed = async () => (await server.call("GET", "/v1/dead-letters?fn=main/fails")).json.data

  it("runs a dead letter again, once; it is listed again after its failure, until it is discarded", async () => {
    const { run_id } = (await server.call("POST", "/v1/calls", { json: { fn: "main/fails", wait: 20 } })).json.data
    const error = { name: "Error", message: "a secret of the tenant" }
    const [letter] = await listed()
    assert.deepInclude(letter, { run_id, event_type: "svc:call", status: "failed", attempt: 1, error })
    const nothing = { skipped: [], next: null }
    const preview = { redriven: 0, matched: 1, ...nothing }
    assert.deepStrictEqual(await post("redrive", { fn: "main/fails", build: "deployed", dry_run: true }), preview)
    assert.deepStrictEqual(await post("redrive", { ids: [run_id] }), { redriven: 1, ...nothing })
    const gone = [{ reason: "no dead letter has this id", count: 1 }]
    assert.deepStrictEqual(await post("redrive", { ids: [run_id] }), { redriven: 0, skipped: gone, next: null })
    let [again] = await listed()
    while (again === undefined) [again] = await listed()
    const { data: run } = (await server.call("GET", `/v1/runs/${again.run_id}`)).json
    assert.deepInclude(run, { run_type: "run", origin_run_id: run_id })
    assert.deepStrictEqual(await post("discard", { since: again.dead_since }), { discarded: 1, ...nothing })
    assert.deepStrictEqual(await listed(), [])
  })

  it("rejects invalid ids, times and cursors", async () => {
    const messageOf = async (json: object) => {
      const answer = await server.call("POST", "/v1/dead-letters/redrive", { json })
      assert.deepStrictEqual([answer.status, answer.json.error.code], [400, "bad_request"])
      return answer.json.error.message
    }
    assert.include(await messageOf({ ids: [] }), "ids must have 1 to 500 ids (got 0)")
    assert.include(await messageOf({ ids: ["1"] }), "must be a UUID")
    assert.include(await messageOf({ since: "yesterday" }), "since must be an ISO 8601 timestamp")
    assert.include(await messageOf({ cursor: "1" }), "cursor must be the field next")
  })
})

describe("GET /deliveries", () => {
  it("lists pending deliveries with the reasons, and a dry run counts it", async () => {
    const { event_id } = (await waits("order:created")).json.data
    const { data, meta } = (await server.call("GET", "/v1/deliveries?fn=main/onOrder")).json
    const [found] = data
    assert.deepStrictEqual([data.length, meta?.total ?? 1], [1, 1])
    assert.deepInclude(found, {
      event_id,
      event_type: "order:created",
      project_name: "shop",
      attempt: 1,
      continues: null
    })
    assert.deepInclude(found.waiting, { reason: "delay", detail: null })
    assert.strictEqual(Date.parse(found.waiting.until) - Date.parse(found.waiting.since), 3_600_000)
    for (const id of [event_id, found.delivery_id]) {
      const [why] = (await server.call("GET", `/v1/waiting/${id}`)).json.data
      assert.deepInclude(why, { object: "delivery", id: found.delivery_id, waiting: found.waiting })
    }
    assert.deepStrictEqual((await cancel("?fn=main/onOrder&dry_run=true")).data, { cancelled: 0, matched: 1 })
    assert.deepStrictEqual((await cancel("?fn=main/onOrder")).data, { cancelled: 1 })
    assert.deepStrictEqual((await server.call("GET", `/v1/waiting/${event_id}`)).json.data, [])
  })

  it("answers 404 for an id of nothing", async () => {
    const { status } = await server.call("GET", "/v1/waiting/01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e")
    assert.strictEqual(status, 404)
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
