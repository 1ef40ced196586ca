/** Lifecycle of subscriptions: reconnects, maximum duration, slow and absent clients, shutdown. */
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import { EventSource } from "eventsource"
import { afterAll, beforeAll } from "vitest"
import { eventually } from "./server/FileClient.ts"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"
import { modules } from "./streams/functions.ts"
import { SseClient } from "./streams/SseClient.ts"

let server: TestServer
const start = (streamLifetimeMs: number) =>
  TestServer.start({ streamLifetimeMs, heartbeatMs: 50 }, adminToken, startWeft({ sandbox: trustedSandbox(modules) }))
beforeAll(async () => {
  server = await start(60_000)
  await server.deploy("ticks", "ticks")
})
afterAll(() => server.close())

const publish = (n: number, to = server) => to.weft.env(to.env.env_id).events.publish({ type: "plain", data: n })

const openSubscriptions = async (of = server): Promise<number> => {
  const { text } = await of.call("GET", "/metrics", { token: null })
  return Number(text.match(/^weft_subscriptions (\d+)$/m)?.[1])
}

const created = (client: SseClient) => client.of("event:created").map(({ data }) => data.event_id)

describe("a client that reconnects", () => {
  it("receives the missed messages in order, then new ones", async () => {
    const first = await SseClient.open(server, "/v1/env/subscribe")
    const ids: Array<string> = []
    for (let n = 0; n < 3; n++) ids.push((await publish(n)).event_id)
    await first.until(() => created(first).length === 3)
    const after = first.of("event:created")[0]?.id ?? ""
    first.close()
    for (let n = 3; n < 6; n++) ids.push((await publish(n)).event_id)
    const second = await SseClient.open(server, "/v1/env/subscribe", { after })
    for (let n = 6; n < 9; n++) ids.push((await publish(n)).event_id)
    await second.until(() => created(second).length === 8)
    second.close()
    assert.deepStrictEqual(created(second), ids.slice(1))
  })

  it("misses nothing of an event that it published, even if it received only event:published", async () => {
    const json = { event_type: "tick", event_data: { n: 1, emit: 1 } }
    const first = await SseClient.open(server, "/v1/streams/subscribe-with-event", { json })
    const [published] = await first.until((messages) => messages.length >= 1)
    first.close()
    const path = `/v1/streams/${published?.data.stream_id}/subscribe`
    await eventually(async () => {
      const { json: runs } = await server.call("GET", `/v1/events/${published?.data.event_id}/runs`)
      return runs.data[0]?.status === "succeeded"
    })
    const second = await SseClient.open(server, path, { after: published?.id ?? "" })
    await second.until((messages) => messages.length === 3)
    assert.deepStrictEqual(second.names(), ["run:start", "stream:data", "run:stop"])
    second.close()
  })

  it("as EventSource does automatically loses nothing over many disconnects", { timeout: 30_000 }, async () => {
    const brief = await start(150)
    const received: Array<string> = []
    let opened = 0
    const source = new EventSource(`${brief.listening.url}/v1/env/subscribe`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${brief.token}` } })
    })
    source.addEventListener("open", () => opened++)
    source.addEventListener("event:created", ({ data }) => received.push(JSON.parse(data).event_id))
    await eventually(() => opened > 0)
    const ids: Array<string> = []
    while (opened < 3) {
      ids.push((await publish(ids.length, brief)).event_id)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await eventually(() => received.length >= ids.length)
    source.close()
    assert.deepStrictEqual(received, ids)
    await brief.close()
  })
})

describe("the maximum duration", () => {
  it("ends a stream with stream:complete, and an environment without it", async () => {
    // Long enough for three requests on a busy machine.
    const brief = await start(1_000)
    const { stream_id } = await publish(0, brief)
    const stream = await SseClient.open(brief, `/v1/streams/${stream_id}/subscribe`)
    const env = await SseClient.open(brief, "/v1/env/subscribe")
    const event = await SseClient.open(brief, "/v1/streams/subscribe-with-event", {
      json: { event_type: "plain", event_data: null }
    })
    assert.deepStrictEqual(
      (await stream.untilEnded()).map(({ data }) => data),
      [{ type: "stream:complete" }]
    )
    await event.untilEnded()
    assert.deepStrictEqual(event.names(), ["event:published", "stream:complete"])
    await env.untilEnded()
    assert.deepStrictEqual(env.names(), ["stream:created", "event:created"])
    await eventually(async () => (await openSubscriptions(brief)) === 0)
    await brief.close()
  })

  it("includes heartbeat comments while nothing happens", async () => {
    const client = await SseClient.open(server, "/v1/env/subscribe")
    await eventually(() => client.comments.filter((text) => text === ": heartbeat").length >= 3)
    client.close()
    assert.deepStrictEqual(client.messages, [])
  })

  it("continues for every spelling of a valid credential", async () => {
    const client = await SseClient.open(server, "/v1/env/subscribe", { token: `  ${server.token}` })
    await eventually(() => client.comments.filter((text) => text === ": heartbeat").length >= 3)
    assert.isFalse(client.isOver)
    client.close()
  })
})

describe("a subscription", () => {
  it("continues for every spelling of a readable stream", async () => {
    const { stream_id } = await publish(0)
    const { token } = await server.key({ [`stream:${stream_id}`]: ["read"] })
    const client = await SseClient.open(server, `/v1/streams/${stream_id.toUpperCase()}/subscribe`, { token })
    await eventually(() => client.comments.filter((text) => text === ": heartbeat").length >= 3)
    assert.isFalse(client.isOver)
    client.close()
  })

  it("is released at once when its client disconnects", async () => {
    await eventually(async () => (await openSubscriptions()) === 0)
    const clients = await Promise.all(Array.from({ length: 50 }, () => SseClient.open(server, "/v1/env/subscribe")))
    assert.strictEqual(await openSubscriptions(), 50)
    for (const client of clients) client.close()
    await eventually(async () => (await openSubscriptions()) === 0)
  })

  it("of a client that does not read is closed, and others receive everything", { timeout: 60_000 }, async () => {
    const { stream_id } = await publish(0)
    const slow = await asleep(`/v1/streams/${stream_id}/subscribe`)
    const quick = await SseClient.open(server, `/v1/streams/${stream_id}/subscribe`)
    await eventually(async () => (await openSubscriptions()) === 2)
    const events = server.weft.env(server.env.env_id).events
    let sent = 0
    const payload = "x".repeat(60_000)
    while ((await openSubscriptions()) === 2) {
      assert.isBelow(sent, 4000)
      for (let n = 0; n < 50; n++, sent++) {
        await events.publish({ type: "emit", data: { data_type: "large", payload }, stream_id })
      }
    }
    await quick.until((messages) => messages.filter(({ event }) => event === "run:stop").length === sent)
    assert.lengthOf(quick.of("stream:data"), sent)
    assert.isFalse(quick.isOver)
    quick.close()
    await new Promise<void>((resolve) => {
      if (slow.destroyed) return resolve()
      slow.once("close", () => resolve()).resume()
    })
  })

  it("of a client that pauses continues in order", { timeout: 60_000 }, async () => {
    const { stream_id } = await publish(0)
    const slow = await asleep(`/v1/streams/${stream_id}/subscribe`)
    const events = server.weft.env(server.env.env_id).events
    // More than the system's buffers hold for a connection, and less than Weft's for a subscriber.
    const count = 110
    const payload = "x".repeat(60_000)
    for (let n = 0; n < count; n++) {
      const { event_id } = await events.publish({ type: "emit", data: { data_type: `n${n}`, payload }, stream_id })
      await eventually(async () => {
        const { json: runs } = await server.call("GET", `/v1/events/${event_id}/runs`)
        return runs.data[0]?.status === "succeeded"
      })
    }
    let text = ""
    slow.setEncoding("utf8").on("data", (piece: string) => {
      text += piece
    })
    slow.resume()
    await eventually(() => text.split("event: run:stop").length > count)
    slow.destroy()
    const received = [...text.matchAll(/"data_type":"n(\d+)"/g)].map(([, n]) => Number(n))
    assert.deepStrictEqual(
      received,
      Array.from({ length: count }, (_, n) => n)
    )
  })

  it("ends when its credential loses the permission, and others do not", async () => {
    const { key, token } = await server.key({ "stream:*": ["read"] })
    const { stream_id } = await publish(0)
    const env = await SseClient.open(server, "/v1/env/subscribe", { token })
    const stream = await SseClient.open(server, `/v1/streams/${stream_id}/subscribe`, { token })
    const other = await SseClient.open(server, "/v1/env/subscribe")
    await server.weft.apiKeys.update(key.env_id, key.api_key_id, { permissions: { [`stream:${stream_id}`]: ["read"] } })
    await env.untilEnded()
    assert.isFalse(stream.isOver)
    await server.weft.apiKeys.update(key.env_id, key.api_key_id, { enabled: false })
    assert.deepStrictEqual(await stream.untilEnded(), [])
    assert.isFalse(other.isOver)
    other.close()
  })

  it("returns its headers only to HEAD", async () => {
    await eventually(async () => (await openSubscriptions()) === 0)
    const response = await fetch(`${server.listening.url}/v1/env/subscribe`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${server.token}` }
    })
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    assert.strictEqual(await response.text(), "")
    await eventually(async () => (await openSubscriptions()) === 0)
  })

  it("ends when the server is closed, which does not wait for it", async () => {
    const closing = await start(60_000)
    const { stream_id } = await publish(0, closing)
    const clients = [
      await SseClient.open(closing, "/v1/env/subscribe"),
      await SseClient.open(closing, `/v1/streams/${stream_id}/subscribe`)
    ]
    const began = Date.now()
    await closing.listening.close({ graceMs: 20_000 })
    assert.isBelow(Date.now() - began, 10_000)
    for (const client of clients) assert.deepStrictEqual(await client.untilEnded(), [])
    await closing.weft.close()
  })
})

/** A client that sends a request and then stops reading. */
const asleep = (path: string): Promise<Socket> =>
  new Promise((resolve) => {
    const { host, port } = server.listening
    const socket = connect(port, host, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`)
    })
    socket.on("error", () => undefined)
    socket.once("data", () => {
      socket.pause()
      resolve(socket)
    })
  })
