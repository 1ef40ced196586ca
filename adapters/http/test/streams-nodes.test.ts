/** Clients that move from one node to another. The new node sends the messages in between. */
import { assert, describe, it } from "@effect/vitest"
import type { WeftInstance } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"
import { modules } from "./streams/functions.ts"
import { SseClient } from "./streams/SseClient.ts"

const scope = Scope.makeUnsafe()
let first: TestServer
let second: WeftInstance
let listening: Http.Listening

beforeAll(async () => {
  const { database: stores, blobs } = backends[backendOfRun]
  const shared = await Effect.runPromise(
    Layer.buildWithScope(Layer.mergeAll(stores, blobs, MemoryStores.cluster), scope)
  )
  const node = () =>
    startWeft({
      database: Layer.succeedContext(shared),
      blobs: Layer.succeedContext(shared),
      cluster: Layer.succeedContext(shared),
      sandbox: trustedSandbox(modules)
    })
  first = await TestServer.start({ streamLifetimeMs: 60_000, heartbeatMs: 200 }, adminToken, node())
  await first.deploy("ticks", "ticks")
  second = await node()
  listening = await Http.listen(second, { port: 0, streamLifetimeMs: 60_000, heartbeatMs: 200 })
}, 60_000)

afterAll(async () => {
  await listening.close()
  await second.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("a client whose node has stopped", () => {
  it("continues on another node, in the environment and in a stream, without a gap", async () => {
    const env = await SseClient.open(first, "/v1/env/subscribe")
    const json = { event_type: "tick", event_data: { n: 1 } }
    const stream = await SseClient.open(first, "/v1/streams/subscribe-with-event", { json })
    await stream.until(() => stream.of("run:stop").length === 1)
    await env.until(() => env.of("event:handled").length === 1)
    const { stream_id } = stream.of("event:published")[0]?.data ?? {}
    const [inEnv, inStream] = [env, stream].map(({ messages }) => messages.at(-1)?.id ?? "")
    assert.match(inEnv ?? "", /-t\d+$/)
    await first.close()
    await Promise.all([env.untilEnded(), stream.untilEnded()])

    const publish = (data: unknown) =>
      second.env(first.env.env_id).events.publish({ type: "tick", data: JSON.parse(JSON.stringify(data)), stream_id })
    const missed = await publish({ n: 2 })
    const at = (path: string, after = "") => SseClient.at(listening.url, first.token, path, { after })
    const again = await at(`/v1/streams/${stream_id}/subscribe`, inStream)
    await again.until(() => again.of("run:stop").some(({ data }) => data.run.result.n === 2))
    const envAgain = await at("/v1/env/subscribe", inEnv)
    const live = await publish({ n: 3 })
    await envAgain.until(() => envAgain.of("run:stop").length >= 3)
    await again.until(() => again.of("run:stop").some(({ data }) => data.run.result.n === 3))
    const created = envAgain.of("event:created").map(({ data }) => data.event_id)
    assert.deepStrictEqual(created.slice(-2), [missed.event_id, live.event_id])
    // A client that reconnects to the same node continues there.
    const last = envAgain.messages.at(-1)?.id ?? ""
    envAgain.close()
    const third = await at("/v1/env/subscribe", last)
    const { event_id } = await publish({ n: 4 })
    await third.until(() => third.of("event:created").length > 0)
    assert.strictEqual(third.of("event:created")[0]?.data.event_id, event_id)
    for (const client of [again, third]) client.close()
  })
})
