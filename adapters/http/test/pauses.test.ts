/** Pauses over HTTP: what they keep, what they refuse, and what follows them. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const pause = async (json: object) => (await server.call("POST", "/v1/pauses", { json })).json

const resume = (id: string) => server.call("DELETE", `/v1/pauses/${id}`)

const publish = async (event_type: string): Promise<string> =>
  (await server.call("POST", "/v1/events", { json: { event_type, event_data: { total: 1 } } })).json.data.event_id

/** Returns why the deliveries of an event wait, once there are any with this reason. */
const whyUntil = async (id: string, reason: string) => {
  for (;;) {
    const items = (await server.call("GET", `/v1/waiting/${id}`)).json.data
    const [found] = items
    if (found?.waiting.reason === reason) return found
  }
}

/** Returns the runs of an event when one has ended. */
const runsOf = async (event: string) => {
  for (;;) {
    const runs = (await server.call("GET", `/v1/events/${event}/runs`)).json.data
    if (runs.some(({ status }: { status: string }) => status !== "running")) return runs
  }
}

describe("POST /pauses", () => {
  it("keeps the deliveries of a function until it is resumed, and names the time and the credential of the pause", async () => {
    const { data: paused } = await pause({ fn: "shop:main/onOrder" })
    assert.deepInclude(paused, { project_name: "shop", ns: "main", var: "onOrder", schedules: "late" })
    const kept = await publish("order:created")
    const { object, waiting } = await whyUntil(kept, "paused")
    assert.deepStrictEqual(
      { object, waiting },
      {
        object: "delivery",
        waiting: { reason: "paused", since: paused.paused_at, until: null, detail: paused.paused_by }
      }
    )
    assert.match(paused.paused_by, /^api-key [0-9a-f-]{36}$/)
    assert.lengthOf(await runsOf(await publish("order:cancelled")), 1)
    assert.isEmpty((await server.call("GET", `/v1/events/${kept}/runs`)).json.data)
    assert.deepStrictEqual((await server.call("GET", "/v1/pauses")).json.data, [paused])

    assert.strictEqual((await resume(paused.pause_id)).status, 204)
    assert.deepInclude((await runsOf(kept))[0], { status: "succeeded" })
    assert.isEmpty((await server.call("GET", "/v1/pauses")).json.data)
    assert.strictEqual((await resume(paused.pause_id)).status, 404)
    const { data: entries } = (await server.call("GET", "/v1/audit?limit=2")).json
    assert.deepStrictEqual(
      entries.map(({ action, object_name }: { action: string; object_name: string }) => [action, object_name]),
      [
        ["pause.end", "function shop:main/onOrder"],
        ["pause.create", "function shop:main/onOrder"]
      ]
    )
  })

  it("answers webhooks and waiting calls of a paused project with 503, and accepts calls without a wait", async () => {
    const { data: paused } = await pause({ project: "shop", schedules: "skip" })
    const hook = await server.call("GET", "/webhook/acme/prod/shop/read")
    assert.deepInclude(hook.json.error, {
      code: "paused",
      message: `The project shop has been paused since ${paused.paused_at}: call again when it is resumed`
    })
    const call = (json: object) => server.call("POST", "/v1/calls", { json: { fn: "main/plain", ...json } })
    const waited = await call({ wait: 5 })
    assert.deepStrictEqual([hook.status, waited.status, waited.json.error.code], [503, 503, "paused"])
    const accepted = await call({})
    assert.strictEqual(accepted.status, 202)

    const { data: again } = await pause({ project: "shop" })
    assert.deepStrictEqual(again, { ...paused, schedules: "late" })
    await resume(paused.pause_id)
    assert.deepInclude((await runsOf(accepted.json.data.event_id))[0], { status: "succeeded" })
    assert.strictEqual((await server.call("GET", "/webhook/acme/prod/shop/read")).status, 200)
  })

  it("lets a run end that has begun, and keeps the pending deliveries of an environment", async () => {
    const called = await server.call("POST", "/v1/calls", { json: { fn: "main/alone" } })
    const second = (await server.call("POST", "/v1/calls", { json: { fn: "main/alone" } })).json.data.event_id
    const { data: paused } = await pause({})
    assert.deepInclude(paused, { project_id: null, ns: null })
    const { run_id } = called.json.data
    assert.strictEqual((await server.call("GET", `/v1/runs/${run_id}`)).json.data.status, "running")
    const counts = async () => (await server.call("GET", `/v1/pauses/${paused.pause_id}`)).json.data.runs
    assert.deepStrictEqual(await counts(), { executing: 1, suspended: 0 })
    await server.call("POST", `/v1/runs/${run_id}/cancel`)
    await whyUntil(second, "paused")
    assert.deepStrictEqual(await counts(), { executing: 0, suspended: 0 })
    await resume(paused.pause_id)
    const [run] = await runsStarted(second)
    await server.call("POST", `/v1/runs/${run.run_id}/cancel`)
  })

  it("rejects contradictory targets and unknown projects", async () => {
    const messages = [
      { fn: "main/onOrder" },
      { fn: "shop:main/onOrder", project: "shop" },
      { fn: "onOrder", project: "shop" }
    ]
    for (const json of messages) {
      const { status, json: answer } = await server.call("POST", "/v1/pauses", { json })
      assert.deepStrictEqual([status, answer.error.code], [400, "bad_request"])
    }
    assert.strictEqual((await server.call("POST", "/v1/pauses", { json: { project: "none" } })).status, 404)
  })
})

/** Returns the runs of an event when one has begun. */
const runsStarted = async (event: string) => {
  for (;;) {
    const runs = (await server.call("GET", `/v1/events/${event}/runs`)).json.data
    if (runs.length > 0) return runs
  }
}
