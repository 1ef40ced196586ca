/** Clients that go from one node to another: what happened meanwhile is told by whichever they reach. */
import { assert, describe, it } from "@effect/vitest"
import { MemoryStores, trustedSandbox, type WeftInstance } from "@weft/core"
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
  const { stores, blobs } = backends[backendOfRun]
  const shared = await Effect.runPromise(Layer.buildWithScope(Layer.mergeAll(stores, blobs, MemoryStores.feed), scope))
  const node = () =>
    startWeft({
      stores: Layer.succeedContext(shared),
      blobs: Layer.succeedContext(shared),
      feed: Layer.succeedContext(shared),
      sandbox: trustedSandbox(modules)
    })
  first = await TestServer.start({ streamMs: 60_000, heartbeatMs: 200 }, adminToken, node())
  await first.deploy("ticks", "ticks")
  second = await node()
  listening = await Http.listen(second, { port: 0, streamMs: 60_000, heartbeatMs: 200 })
}, 60_000)

afterAll(async () => {
  await listening.close()
  await second.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("a client whose node is gone", () => {
  it("goes on at another one, in the environment and in a stream, without a gap", async () => {
    const env = await SseClient.open(first, "/v1/env/subscribe")
    const json = { event_type: "tick", event_data: { n: 1 } }
    const stream = await SseClient.open(first, "/v1/streams/subscribe-with-event", { json })
    await stream.until(() => stream.of("run:stop").length === 1)
    await env.until(() => env.of("event:handled").length === 1)
    const { stream_id } = stream.of("event:published")[0]?.data ?? {}
    const [inEnv, inStream] = [env, stream].map(({ told }) => told.at(-1)?.id ?? "")
    assert.match(inEnv ?? "", /-t\d+$/)
    await first.close()
    await Promise.all([env.untilOver(), stream.untilOver()])

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
    // Who comes back to where it was told so goes on there.
    const last = envAgain.told.at(-1)?.id ?? ""
    envAgain.close()
    const third = await at("/v1/env/subscribe", last)
    const { event_id } = await publish({ n: 4 })
    await third.until(() => third.of("event:created").length > 0)
    assert.strictEqual(third.of("event:created")[0]?.data.event_id, event_id)
    for (const client of [again, third]) client.close()
  })
})
