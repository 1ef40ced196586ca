import { assert, describe, it } from "@effect/vitest"
import { createClient, type WeftClient, WeftError, WeftNetworkError } from "@weft/client"
import { trustedZip } from "@weft/core/testing"
import { afterEach } from "vitest"
import { type Answer, disconnectAfter, FaultyServer, refused, respondWith, silentAfter } from "./server/FaultyServer.ts"
import { deploy, Server } from "./server/Server.ts"

const open: Array<{ readonly close: () => Promise<void> }> = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const startFaulty = async (...answers: ReadonlyArray<Answer>): Promise<{ server: FaultyServer; weft: WeftClient }> => {
  const server = await FaultyServer.start(...answers)
  open.push(server)
  return { server, weft: createClient({ baseUrl: server.url, token: "t", retry: { baseMs: 2, maxMs: 20 } }) }
}

const real = async (options = {}) => {
  const server = await Server.start(options)
  open.push(server)
  const client = server.client()
  await deploy(client.weft, trustedZip("shop"))
  return { server, ...client }
}

const run = (id: number, run_id: string) =>
  `id: ${id}\nevent: run:start\ndata: ${JSON.stringify({ type: "run:start", run: { run_id, status: "running" } })}\n\n`
const data = (id: number, n: number) =>
  `id: ${id}\nevent: stream:data\ndata: ${JSON.stringify({ type: "stream:data", run_id: "r", data_type: "n", payload: n })}\n\n`
const complete = 'event: stream:complete\ndata: {"type":"stream:complete"}\n\n'

interface Heard {
  readonly ids: ReadonlyArray<string | undefined>
  readonly error: unknown
}

/** Collects the ids of all messages, and the error of the subscription. */
const collect = async (messages: AsyncIterable<{ readonly id?: string }>): Promise<Heard> => {
  const ids: Array<string | undefined> = []
  try {
    for await (const { id } of messages) ids.push(id)
    return { ids, error: null }
  } catch (error) {
    return { ids, error }
  }
}

describe("a subscription", () => {
  it("continues after a disconnect, and ends when the stream is complete", async () => {
    const { server, weft } = await startFaulty(
      disconnectAfter(`: connected\nid: 0\n\n${run(1, "a")}${data(2, 1)}`),
      refused(503, "internal_server_error"),
      disconnectAfter(": nothing new\n\n"),
      respondWith(data(3, 2)),
      respondWith(complete)
    )
    const failures: Array<string> = []
    const received = await collect(weft.streams.watch("s", { onInterruption: ({ name }) => failures.push(name) }))
    assert.deepStrictEqual(received, { ids: ["1", "2", "3", undefined], error: null })
    assert.deepStrictEqual(server.lastIds, [undefined, "2", "2", "2", "3"])
    assert.deepStrictEqual(failures, ["WeftNetworkError", "WeftError", "WeftNetworkError"])
  })

  it("reconnects to its start if it was disconnected before the first message", async () => {
    const { server, weft } = await startFaulty(disconnectAfter(": connected\nid: begin\n\n"), respondWith(complete))
    await collect(weft.streams.watch("s"))
    assert.deepStrictEqual(server.lastIds, [undefined, "begin"])
  })

  it("says when each of its connections is ready, before the first message", async () => {
    const { weft } = await startFaulty(
      disconnectAfter(`: connected\nid: 0\n\n${data(1, 1)}`),
      refused(503, "internal_server_error"),
      respondWith(`: connected\nid: 1\n\n${data(2, 2)}${complete}`)
    )
    const seen: Array<string | undefined> = []
    for await (const { id } of weft.streams.watch("s", { onOpen: () => seen.push("open") })) seen.push(id)
    assert.deepStrictEqual(seen, ["open", "1", "open", "2", undefined])
  })

  it("deduplicates messages that occur once, but not the data that functions emit", async () => {
    const { weft } = await startFaulty(
      disconnectAfter(`${run(1, "a")}${data(2, 1)}`),
      respondWith(`${run(9, "a")}${data(10, 1)}${run(11, "b")}${complete}`)
    )
    const { ids } = await collect(weft.streams.watch("s"))
    assert.deepStrictEqual(ids, ["1", "2", "10", "11", undefined])
  })

  it("continues an earlier one, and with follow continues beyond the server's maximum duration", async () => {
    const { server, weft } = await startFaulty(
      respondWith(`${data(1, 1)}${complete}`),
      respondWith(`${data(2, 2)}${complete}`),
      refused(404, "not_found")
    )
    const { ids, error } = await collect(weft.streams.watch("s", { lastEventId: "0", follow: true }))
    assert.deepStrictEqual(ids, ["1", undefined, "2", undefined])
    assert.deepInclude({ ...Object(error) }, { code: "not_found" })
    assert.deepStrictEqual(server.lastIds, ["0", "1", "2"])
  })

  it("treats a connection without heartbeats as lost", async () => {
    const { server, weft } = await startFaulty(silentAfter(data(1, 1)), respondWith(complete))
    const failures: Array<string> = []
    const options = { silenceMs: 50, onInterruption: ({ message }: Error) => failures.push(message) }
    const { ids } = await collect(weft.streams.watch("s", options))
    assert.deepStrictEqual(ids, ["1", undefined])
    assert.deepStrictEqual(failures, ["No data for 50 ms, not even a heartbeat"])
    assert.deepStrictEqual(server.lastIds, [undefined, "1"])
  })

  it("fails permanently when the credential is revoked", async () => {
    const { server, weft } = await startFaulty(respondWith(data(1, 1)), refused(401, "unauthorized"))
    const { ids, error } = await collect(weft.streams.watch("s"))
    assert.deepStrictEqual(ids, ["1"])
    assert.instanceOf(error, WeftError)
    assert.strictEqual(server.requests.length, 2)
  })

  it("fails after the maximum of reconnects in a row", async () => {
    const { server, weft } = await startFaulty(respondWith(data(1, 1)), refused(500, "internal_server_error"))
    const { error } = await collect(weft.streams.watch("s", { reconnects: 3 }))
    assert.instanceOf(error, WeftError)
    assert.strictEqual(server.requests.length, 5)
  })

  it("waits about as long as the server requests before it reconnects", async () => {
    const times: Array<number> = []
    const timed =
      (answer: Answer): Answer =>
      (response, request) => {
        times.push(performance.now())
        answer(response, request)
      }
    const { server } = await startFaulty(
      timed(respondWith(`retry: 300\n\n${data(1, 1)}`)),
      timed(respondWith(complete))
    )
    await collect(createClient({ baseUrl: server.url, retry: { baseMs: 2 } }).streams.watch("s"))
    const [first = 0, second = 0] = times
    assert.isAtLeast(second - first, 149)
  })

  it("treats an invalid message as a connection error", async () => {
    const { server, weft } = await startFaulty(
      respondWith(`${data(1, 1)}id: 2\nevent: stream:data\ndata: {"type\n\n`),
      respondWith(complete)
    )
    assert.deepStrictEqual(await collect(weft.streams.watch("s")), { ids: ["1", undefined], error: null })
    assert.deepStrictEqual(server.lastIds, [undefined, "1"])
  })
})

describe("publishing and watching", () => {
  const published = 'id: 1\nevent: event:published\ndata: {"type":"event:published","stream_id":"s","event_id":"e"}\n\n'

  it("continues with the stream of the event, which is published once", async () => {
    const { server, weft } = await startFaulty(disconnectAfter(published), respondWith(`${data(2, 1)}${complete}`))
    const { ids } = await collect(weft.streams.publishAndWatch({ event_type: "a", event_data: 1 }))
    assert.deepStrictEqual(ids, ["1", "2", undefined])
    assert.deepStrictEqual(
      server.requests.map(({ method, url }) => `${method} ${url}`),
      ["POST /v1/streams/subscribe-with-event", "GET /v1/streams/s/subscribe"]
    )
  })

  it("fails if the event may or may not be published", async () => {
    for (const answer of [
      disconnectAfter(": nothing\n\n"),
      respondWith(""),
      (response) => response.socket?.destroy()
    ] satisfies ReadonlyArray<Answer>) {
      const { server, weft } = await startFaulty(answer)
      const { error } = await collect(weft.streams.publishAndWatch({ event_type: "a", event_data: 1 }))
      assert.instanceOf(error, WeftNetworkError)
      assert.strictEqual(server.requests.length, 1)
    }
  })

  it("yields all consequences of an event", async () => {
    const { weft } = await real({ streamLifetimeMs: 60_000 })
    const input = { event_type: "order:created", event_data: { total: 4 } }
    for await (const message of weft.streams.publishAndWatch(input)) {
      if (message.event !== "run:stop") continue
      assert.deepStrictEqual(message.data.run.result, { doubled: 8 })
      break
    }
  })
})

describe("watching an environment", () => {
  it("misses nothing, even if the server ends its subscriptions repeatedly", async () => {
    const { weft } = await real({ streamLifetimeMs: 60 })
    const created: Array<string> = []
    const listening = new AbortController()
    const watching = (async () => {
      for await (const message of weft.streams.watchEnv({ signal: listening.signal })) {
        if (message.event === "event:created") created.push(message.data.event_id)
        if (created.length === 30) return
      }
    })()
    // The first message shows that the first subscription is active.
    const events: Array<string> = []
    const publish = async (n: number) => {
      const { event_id } = await weft.events.publish({ event_type: `n:${n}`, event_data: n })
      events.push(event_id)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    while (created.length === 0) await publish(-1)
    const from = events.indexOf(created[0] ?? "")
    for (let n = 0; n < 40 && created.length < 30; n++) await publish(n)
    await watching
    assert.deepStrictEqual(created, events.slice(from, from + 30))
  })

  it("fails with the signal's reason when it is aborted, and ends when the loop ends", async () => {
    const { weft } = await real()
    const reason = new Error("enough")
    const signal = AbortSignal.timeout(50)
    const { error } = await collect(weft.streams.watchEnv({ signal }))
    assert.strictEqual(error, signal.reason)
    assert.strictEqual((await collect(weft.streams.watchEnv({ signal: AbortSignal.abort(reason) }))).error, reason)

    const first = weft.streams.watchEnv()
    const received = first.next()
    let isHeard = false
    void received.then(() => {
      isHeard = true
    })
    while (!isHeard) await weft.events.publish({ event_type: "x", event_data: 0 })
    assert.isFalse((await received).done)
    await first.return()
    assert.isTrue((await first.next()).done)
  })
})
