/** Subscriptions over real HTTP: messages, permissions, and ends. */
import { spawn } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"
import { modules } from "./streams/functions.ts"
import { SseClient } from "./streams/SseClient.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const unknownId = "01890000-0000-7000-8000-000000000000"

let server: TestServer
beforeAll(async () => {
  const weft = startWeft({ sandbox: trustedSandbox(modules) })
  server = await TestServer.start({ streamLifetimeMs: 60_000, heartbeatMs: 200 }, adminToken, weft)
  await server.deploy("ticks", "ticks")
  await server.deploy("echo", "echo")
})
afterAll(() => server.close())

const publish = async (event_type: string, event_data: unknown, stream_id?: string) => {
  const reply = await server.call("POST", "/v1/events", { json: { event_type, event_data, stream_id } })
  assert.strictEqual(reply.status, 201, reply.text)
  return reply.json.data
}

const withEvent = (event_type: string, event_data: unknown, stream_id?: string) =>
  SseClient.open(server, "/v1/streams/subscribe-with-event", { json: { event_type, event_data, stream_id } })

const ended = (messages: ReadonlyArray<{ readonly event: string | undefined }>, count: number): boolean =>
  messages.filter(({ event }) => event === "run:stop" || event === "run:fail").length >= count

describe("GET /env/subscribe", () => {
  it("sends streams, events and runs in the format of the specification", async () => {
    const client = await SseClient.open(server, "/v1/env/subscribe")
    const { event_id, stream_id } = await publish("tick", { n: 1 })
    await client.until(() => client.of("event:handled").length === 2)
    client.close()
    const start = client.of("run:start").map(({ data }) => data)
    assert.lengthOf(start, 2)
    for (const data of start) {
      assert.deepStrictEqual(data, { run_id: data.run_id, stream_id, run_type: "event" })
      assert.match(data.run_id, uuid)
    }
    assert.sameDeepMembers(
      client.of("run:stop").map(({ data }) => data),
      start.map(({ run_id }) => ({ run_id, stream_id }))
    )
    assert.deepStrictEqual(
      client.of("event:created").map(({ data }) => data),
      [{ event_id, stream_id, event_type: "tick" }]
    )
    assert.deepStrictEqual(client.of("event:handled")[0]?.data, { event_id, stream_id, event_type: "tick" })
    assert.deepStrictEqual(
      client.of("stream:created").map(({ data }) => data),
      [{ stream_id }]
    )
    const order = ["stream:created", "event:created", "run:start"].map((name) => client.names().indexOf(name))
    assert.deepStrictEqual(order, [0, 1, 2])
    for (const { id } of client.messages) assert.isDefined(id)
    assert.strictEqual(new Set(client.messages.map(({ id }) => id)).size, client.messages.length)
  })

  it("sends failures and webhooks, but no data that runs emit", async () => {
    const client = await SseClient.open(server, "/v1/env/subscribe")
    const { stream_id } = await publish("fail", null)
    await publish("tick", { n: 1, emit: 3 })
    const response = await fetch(`${server.listening.url}/webhook/acme/prod/hooks/now`)
    assert.strictEqual(await response.json(), "hooked")
    await client.until((messages) => ended(messages, 4))
    client.close()
    assert.deepStrictEqual(Object.keys(client.of("run:fail")[0]?.data), ["run_id", "stream_id"])
    assert.strictEqual(client.of("run:fail")[0]?.data.stream_id, stream_id)
    assert.notInclude(client.names(), "stream:data")
    const hook = client.of("run:start").find(({ data }) => data.run_type === "call")
    const names = client.messages
      .filter(({ data }) => data.stream_id === hook?.data.stream_id)
      .map(({ event }) => event)
    assert.deepStrictEqual(names, ["stream:created", "run:start", "run:stop"])
  })

  it("returns 400 without pub/sub", async () => {
    const none = await TestServer.start({}, adminToken, startWeft({ streams: { wholeEnv: false } }))
    const reply = await none.call("GET", "/v1/env/subscribe")
    assert.strictEqual(reply.status, 400)
    assert.include(reply.json.error.message, "Pub/sub")
    const { token } = await none.key({ "stream:x": ["read"] })
    assert.strictEqual((await none.call("GET", "/v1/env/subscribe", { token })).status, 403)
    await none.close()
  })

  it("is readable with curl", async () => {
    const curl = spawn("curl", [
      ...["-s", "-i", "-N", `${server.listening.url}/v1/env/subscribe`],
      ...["-H", `Authorization: Bearer ${server.token}`]
    ])
    let text = ""
    const received = new Promise<void>((resolve) => {
      curl.stdout.on("data", (chunk: Buffer) => {
        if (text === "") void publish("tick", { n: 1 })
        text += chunk.toString()
        if (text.split("event: event:handled").length > 2) resolve()
      })
    })
    await received
    curl.kill()
    const [head = "", ...blocks] = text.split(/\r?\n\r?\n/)
    assert.match(head, /^HTTP\/1.1 200 OK/)
    for (const header of [
      /content-type: text\/event-stream/i,
      /cache-control: no-cache, no-transform/i,
      /x-accel-buffering: no/i,
      /x-request-id: [0-9a-f-]{36}/i
    ]) {
      assert.match(head, header)
    }
    assert.match(blocks[0] ?? "", /^: connected\nid: \S+$/)
    assert.match(
      text,
      /\n\nid: \S+\nevent: run:start\ndata: \{"run_id":"[^"]+","stream_id":"[^"]+","run_type":"event"\}\n\n/
    )
  })
})

describe("GET /streams/{stream_id}/subscribe", () => {
  it("sends the runs of one stream and the data that they emit", async () => {
    const { stream_id } = await publish("elsewhere", null)
    const client = await SseClient.open(server, `/v1/streams/${stream_id}/subscribe?project=ticks`)
    await publish("tick", { n: 7, emit: 2 }, stream_id)
    await publish("tick", { n: 8, emit: 2 })
    await publish("fail", null, stream_id)
    await client.until((messages) => ended(messages, 2))
    client.close()
    const run_id = client.of("run:stop")[0]?.data.run.run_id
    assert.deepStrictEqual(
      client.messages.map(({ data }) => data).filter((data) => run_id === data.run_id || run_id === data.run?.run_id),
      [
        { type: "run:start", run: { run_id, status: "running" } },
        { type: "stream:data", run_id, data_type: "progress", payload: { n: 7, step: 0 } },
        { type: "stream:data", run_id, data_type: "progress", payload: { n: 7, step: 1 } },
        { type: "run:stop", run: { run_id, status: "succeeded", result: { n: 7, line: "a\nb" } } }
      ]
    )
    const { type, run } = client.of("run:fail")[0]?.data ?? {}
    assert.strictEqual(type, "run:fail")
    assert.strictEqual(run.status, "failed")
    assert.strictEqual(run.result.error.message, "it failed")
    assert.lengthOf(client.messages, 6)
  })

  it("accepts the id of a project in any spelling", async () => {
    const { stream_id } = await publish("elsewhere", null)
    const { data } = (await server.call("GET", "/v1/projects/ticks")).json
    const path = `/v1/streams/${stream_id}/subscribe?project=${data.project_id.toUpperCase()}`
    const client = await SseClient.open(server, path)
    await publish("tick", { n: 1 }, stream_id)
    await client.until((messages) => ended(messages, 1))
    client.close()
  })

  it("returns 404 for an empty stream, and for an invalid id", async () => {
    for (const id of [unknownId, "none", "subscribe-with-event"]) {
      const reply = await server.call("GET", `/v1/streams/${id}/subscribe`)
      assert.strictEqual(reply.status, 404, id)
      assert.strictEqual(reply.json.error.code, "not_found")
    }
  })

  it("sends a cancelled run, like the environment's subscription", async () => {
    const env = await SseClient.open(server, "/v1/env/subscribe")
    const leaving = new AbortController()
    const left = fetch(`${server.listening.url}/webhook/acme/prod/hooks/stuck`, { signal: leaving.signal }).then(
      () => false,
      () => true
    )
    const [start] = await env.until(() => env.of("run:start").length > 0).then(() => env.of("run:start"))
    const { run_id, stream_id } = start?.data ?? {}
    const stream = await SseClient.open(server, `/v1/streams/${stream_id}/subscribe`)
    leaving.abort()
    assert.isTrue(await left)
    await stream.until((messages) => messages.length > 0)
    await env.until(() => env.of("run:cancel").length > 0)
    env.close()
    stream.close()
    assert.deepStrictEqual(env.of("run:cancel")[0]?.data, { run_id, stream_id })
    const { data, event } = stream.messages[0] ?? {}
    assert.strictEqual(event, "run:cancel")
    assert.deepInclude(data, { type: "run:cancel" })
    assert.include(data.run, { run_id, status: "cancelled" })
    assert.strictEqual(data.run.result.error.name, "Cancelled")
  })

  it("requires the permission to read the stream", async () => {
    const { stream_id } = await publish("elsewhere", null)
    const { token } = await server.key({ [`stream:${stream_id}`]: ["read"] })
    const client = await SseClient.open(server, `/v1/streams/${stream_id}/subscribe`, { token })
    client.close()
    assert.strictEqual((await server.call("GET", `/v1/streams/${unknownId}/subscribe`, { token })).status, 403)
    assert.strictEqual((await server.call("GET", "/v1/env/subscribe", { token })).status, 403)
  })
})

describe("POST /streams/subscribe-with-event", () => {
  it("sends the event first, then everything that it causes", async () => {
    const client = await withEvent("tick", { n: 3, emit: 1 })
    await client.until((messages) => ended(messages, 2))
    client.close()
    const [first, ...rest] = client.messages
    const { event_id, stream_id } = first?.data ?? {}
    assert.strictEqual(first?.event, "event:published")
    assert.deepStrictEqual(first?.data, { type: "event:published", event_id, stream_id, event_type: "tick" })
    const stored = (await server.call("GET", `/v1/events/${event_id}`)).json.data
    assert.strictEqual(stored.stream_id, stream_id)
    assert.sameMembers(
      rest.map(({ event }) => event ?? ""),
      ["run:start", "run:start", "stream:data", "stream:data", "run:stop", "run:stop"]
    )
  })

  it("rejects with JSON, before anything is published", async () => {
    const { pagination } = (await server.call("GET", "/v1/events?limit=1")).json
    const good = { event_type: "tick", event_data: { n: 1 } }
    const post = (json: unknown, token = server.token) =>
      server.call("POST", "/v1/streams/subscribe-with-event", { json, token })
    assert.strictEqual((await post({ event_type: "tick" })).status, 400)
    assert.strictEqual((await post({ ...good, event_type: "" })).status, 400)
    assert.strictEqual((await post({ ...good, event_type: "svc:unknown" })).status, 400)
    assert.strictEqual((await post({ ...good, stream_id: "x" })).status, 400)
    const onlyOne = (await server.key({ [`stream:${unknownId}`]: ["read"], "event:*": ["create"] })).token
    assert.strictEqual((await post(good, onlyOne)).status, 403)
    const noEvents = (await server.key({ "stream:*": ["read"], "event:other": ["create"] })).token
    assert.strictEqual((await post(good, noEvents)).status, 403)
    const after = (await server.call("GET", "/v1/events?limit=1")).json.pagination
    assert.strictEqual(after.total, pagination.total)
  })
})

describe("svc.stream.emit", () => {
  it("accepts 64 KiB at most", async () => {
    const ok = await withEvent("emit", { data_type: "large", payload: "x".repeat(64 * 1024 - 2) })
    await ok.until((messages) => ended(messages, 1))
    assert.strictEqual(ok.of("stream:data")[0]?.data.payload.length, 64 * 1024 - 2)
    ok.close()
    const large = await withEvent("emit", { data_type: "large", payload: "x".repeat(64 * 1024 - 1) })
    await large.until((messages) => ended(messages, 1))
    assert.strictEqual(large.of("run:fail")[0]?.data.run.result.error.name, "LimitExceeded")
    large.close()
    const nameless = await withEvent("emit", { data_type: "", payload: 1 })
    await nameless.until((messages) => ended(messages, 1))
    assert.strictEqual(nameless.of("run:fail")[0]?.data.run.result.error.name, "BadRequest")
    nameless.close()
  })

  it("limits the data that a run emits", async () => {
    const client = await withEvent("tick", { n: 1, emit: 3000 })
    await client.until((messages) => ended(messages, 2))
    client.close()
    assert.lengthOf(client.of("run:fail"), 2)
    assert.strictEqual(client.of("run:fail")[0]?.data.run.result.error.name, "LimitExceeded")
    assert.isAtLeast(client.of("stream:data").length, 1000)
    assert.isBelow(client.of("stream:data").length, 6000)
  })
})
