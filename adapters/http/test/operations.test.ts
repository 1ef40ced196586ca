/** Operations on many runs over HTTP: their counts, their progress, and what follows them. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"
import { SseClient } from "./streams/SseClient.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const create = (json: object, headers: Record<string, string> = {}) =>
  server.call("POST", "/v1/operations", { json, headers })

/** Returns the operation once it has ended. */
const end = async (id: string) => {
  for (;;) {
    const { data } = (await server.call("GET", `/v1/operations/${id}`)).json
    if (data.ended_at !== null) return data
  }
}

const publish = async (total: number) => {
  const { event_id } = (
    await server.call("POST", "/v1/events", { json: { event_type: "order:created", event_data: { total } } })
  ).json.data
  for (;;) {
    const [run] = (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data
    if (run?.status === "succeeded") return run.run_id
  }
}

const filter = { status: "succeeded", fn: "shop:main/onOrder" }

describe("POST /operations", () => {
  it("counts with a dry run, replays each run once, and keeps one operation per idempotency key", async () => {
    const originals = [await publish(1), await publish(2)]
    const counted = await create({ kind: "replay", filter, dry_run: true })
    assert.deepStrictEqual([counted.status, counted.json.data], [200, { matched: 2 }])
    const key = { "idempotency-key": "incident-1" }
    const created = await create({ kind: "replay", filter, options: { build: "deployed" } }, key)
    assert.strictEqual(created.status, 201)
    const { operation_id, total, created_by } = created.json.data
    assert.strictEqual(total, 2)
    assert.match(created_by, /^api-key [0-9a-f-]{36}$/)
    const ended = await end(operation_id)
    assert.deepInclude(ended, { kind: "replay", state: "succeeded", done: 2, skipped: 0, failed: 0, failures: [] })
    assert.deepStrictEqual([ended.filter, ended.options], [filter, { build: "deployed" }])
    const again = await create({ kind: "replay", filter, options: { build: "deployed" } }, key)
    assert.strictEqual(again.json.data.operation_id, operation_id)
    let replays: ReadonlyArray<{ origin_run_id: string }> = []
    while (replays.length < 2) replays = (await server.call("GET", "/v1/runs?type=run")).json.data
    assert.sameMembers(
      replays.map(({ origin_run_id }) => origin_run_id),
      originals
    )
    const [entry] = (await server.call("GET", "/v1/audit?action=operation.create")).json.data
    assert.deepInclude(entry, { object_id: operation_id })
    assert.deepStrictEqual(entry.details, { kind: "replay", ...filter, build: "deployed", total: 2 })
  })

  it("ends by a cancellation, once, and is listed by its state", async () => {
    const { data } = (await create({ kind: "replay", filter, options: { rate: 1 } })).json
    const cancel = () => server.call("POST", `/v1/operations/${data.operation_id}/cancel`)
    const cancelled = await cancel()
    assert.deepInclude(cancelled.json.data, { state: "cancelled", operation_id: data.operation_id })
    const again = await cancel()
    assert.deepStrictEqual([again.status, again.json.error.code], [400, "bad_request"])
    const listed = (await server.call("GET", "/v1/operations?state=cancelled")).json
    assert.deepStrictEqual(listed.data, [cancelled.json.data])
    assert.strictEqual((await server.call("GET", "/v1/operations/none")).status, 404)
  })

  it("are followed as a stream: the state now, each change, and the end", async () => {
    const { data } = (await create({ kind: "replay", filter, options: { rate: 1 } })).json
    const path = `/v1/operations/${data.operation_id}`
    const followed = await SseClient.open(server, path)
    const [first] = await followed.until((messages) => messages.length > 0)
    assert.deepInclude(first?.data, { operation_id: data.operation_id, kind: "replay" })
    const { json } = await server.call("POST", `${path}/cancel`)
    const messages = await followed.untilEnded()
    assert.deepStrictEqual([messages.at(-1)?.event, messages.at(-1)?.data], ["operation:end", json.data])
    assert.isTrue(messages.slice(0, -1).every(({ event }) => event === "operation:progress"))
    const late = await SseClient.open(server, path)
    assert.deepStrictEqual(
      (await late.untilEnded()).map(({ event }) => event),
      ["operation:end"]
    )
    const headers = { accept: "text/event-stream" }
    assert.strictEqual((await server.call("GET", "/v1/operations/none", { headers })).status, 404)
  })

  it("hides operations on all functions from other credentials that may call one", async () => {
    const { data } = (await create({ kind: "cancel" })).json
    const { token } = await server.key({ "call:main/onOrder": ["create"] })
    assert.strictEqual((await server.call("GET", `/v1/operations/${data.operation_id}`, { token })).status, 404)
    const own = await server.call("POST", "/v1/operations", { json: { kind: "cancel" }, token })
    assert.strictEqual(own.status, 201)
    const listed = (await server.call("GET", "/v1/operations", { token })).json
    assert.deepStrictEqual(
      listed.data.map(({ operation_id }: { operation_id: string }) => operation_id),
      [own.json.data.operation_id]
    )
  })

  it("rejects a filter that does not fit the kind, with the name of the field", async () => {
    for (const [json, field] of [
      [{ kind: "replay" }, "filter.status"],
      [{ kind: "replay", filter: { status: "failed", fn: "a b" } }, "fn"],
      [{ kind: "cancel", options: { rate: 0 } }, "options.rate"],
      [{ kind: "redrive", filter: { status: "failed" } }, "filter.status"],
      [{ kind: "replay", filter: { status: "succeeded", error: "e" } }, "filter.error"],
      [{ kind: "redo" }, "kind"]
    ] as const) {
      const { status, json: body } = await create(json)
      assert.strictEqual(status, 400)
      assert.include(body.error.message, field)
    }
  })
})
