/** Delayed and idempotent publishing over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const order = { event_type: "order:created", event_data: { total: 4 } }

const publish = (json: unknown, key?: string): Promise<Reply> =>
  server.call("POST", "/v1/events", { json, ...(key === undefined ? {} : { headers: { "Idempotency-Key": key } }) })

const runsOf = async (event: Reply): Promise<ReadonlyArray<{ readonly status: string }>> =>
  (await server.call("GET", `/v1/events/${event.json.data.event_id}/runs`)).json.data

const refused = (reply: Reply, reason: string): void => {
  assert.strictEqual(reply.status, 400, reply.text)
  assert.strictEqual(reply.json.error.code, "bad_request")
  assert.include(reply.json.error.message, reason)
}

describe("a delayed event", () => {
  it("has its time, and starts no run before", async () => {
    for (const [delay, millis] of [
      ["90s", 90_000],
      ["PT1H", 3_600_000],
      [60_000, 60_000]
    ] as const) {
      const event = await publish({ ...order, delay })
      assert.strictEqual(event.status, 201, event.text)
      const { created_at, event_time } = event.json.data
      assert.strictEqual(Date.parse(event_time) - Date.parse(created_at), millis)
      assert.deepStrictEqual(await runsOf(event), [])
    }
    const deliver_at = new Date(Date.now() + 3_600_000).toISOString()
    const event = await publish({ ...order, deliver_at })
    assert.strictEqual(event.json.data.event_time, deliver_at)
  })

  it("is rejected with the name of the invalid field", async () => {
    refused(await publish({ ...order, delay: "soon" }), "delay must be a duration")
    refused(await publish({ ...order, delay: true }), "delay: must be a string or a number")
    refused(await publish({ ...order, delay: "400d" }), "delay must be at most 365 days")
    refused(await publish({ ...order, deliver_at: "now" }), "deliver_at must be an ISO 8601 timestamp")
    refused(await publish({ ...order, deliver_at: 5 }), "deliver_at: ")
    refused(await publish({ ...order, delay: 1, deliver_at: "2027-01-01T00:00:00Z" }), "either delay or deliver_at")
  })
})

describe("a host", () => {
  it("publishes delayed events, once per key", async () => {
    const { events } = server.weft.env(server.env.env_id)
    const event = { type: "order:created", data: { total: 1 }, delay: "1h", idempotencyKey: "host" }
    const first = await events.publish(event)
    assert.strictEqual(first.event_time - first.created_at, 3_600_000)
    assert.deepStrictEqual(await events.publish(event), first)
    assert.deepStrictEqual(await events.runs(first.event_id), [])
  })
})

describe("Idempotency-Key", () => {
  it("returns the same event for the same request, also for concurrent ones", async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => publish(order, "at-once")))
    assert.isTrue(replies.every((reply) => reply.status === 201))
    const [first] = replies
    for (const reply of replies) assert.deepStrictEqual(reply.json.data, first?.json.data)
    assert.deepStrictEqual((await publish(order, "at-once")).json.data, first?.json.data)
    assert.isDefined(first)
    assert.isAtMost((await runsOf(first)).length, 1)
  })

  it("rejects a different request with the same key, and invalid keys", async () => {
    await publish(order, "k")
    refused(await publish({ ...order, event_data: { total: 5 } }, "k"), "Idempotency-Key: it was used for another")
    refused(await publish(order, "with blank"), "Idempotency-Key must be 1 to 255 visible ASCII characters")
    refused(await publish(order, "x".repeat(256)), "Idempotency-Key must be")
  })

  it("does not bypass the permission to publish the type", async () => {
    await publish(order, "mine")
    const { token } = await server.key({ "event:other": ["create"] })
    const reply = await server.call("POST", "/v1/events", {
      json: order,
      token,
      headers: { "Idempotency-Key": "mine" }
    })
    assert.strictEqual(reply.status, 403)
  })
})
