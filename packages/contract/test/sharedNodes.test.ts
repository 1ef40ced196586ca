/** Complete nodes on shared stores and a bus that can be disconnected: recovery from outages, in virtual time. */

import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { BusNetwork } from "@weft/contract"
import {
  Builds,
  Caller,
  Events,
  hostIdentity,
  layer,
  Projects,
  Runs,
  Streams,
  Tenants,
  type WeftServices
} from "@weft/core"
import { type ActivityEvent, ClusterBus } from "@weft/core/adapter"
import type { Subscription } from "@weft/core/internal"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import { type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { makeTime } from "../src/LifecycleNodes.ts"
import { memoryNetwork } from "./MemoryNetwork.ts"

const { during, pass } = makeTime(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))
const settle = pass(1000)

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const
const modules = {
  first: { main: { onOrder: Object.assign(() => "first", { meta: { event: "order:created" } }) } },
  second: { main: { onOrder: Object.assign(() => "second", { meta: { event: "order:created" } }) } }
}

interface Node {
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, WeftServices | ClusterBus | Caller | Scope.Scope>
  ) => Effect.Effect<A, E, Scope.Scope>
}

/** Two nodes on the same stores, with an environment and a project. `run` acts as the host of the environment. */
const setUp = Effect.gen(function* () {
  const net = yield* BusNetwork
  const stores = yield* Layer.build(Layer.merge(MemoryStores.database, MemoryStores.blobs))
  const start = Effect.gen(function* () {
    const bus = Layer.effect(ClusterBus, Effect.orDie(net.node))
    const weft = layer({ masterKeys }).pipe(
      Layer.provide(trustedSandbox(modules)),
      Layer.provideMerge(bus),
      Layer.provide(Layer.succeedContext(stores))
    )
    return yield* during(Layer.build(Layer.fresh(weft)))
  })
  const nodes = [yield* start, yield* start] as const
  const [first] = nodes
  const { env_id } = yield* during(
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const org = yield* tenants.createOrg({ slug: "acme" })
      return yield* tenants.createEnv(org.org_id, { name: "production" })
    }).pipe(Effect.provideContext(first))
  )
  const makeNode = (services: Context.Context<WeftServices | ClusterBus>): Node => ({
    run: (effect) =>
      during(effect.pipe(Effect.provideService(Caller, hostIdentity(env_id)), Effect.provideContext(services)))
  })
  const [one, two] = [makeNode(nodes[0]), makeNode(nodes[1])]
  yield* one.run(Projects.use((projects) => projects.create({ name: "shop" })))
  yield* deploy(one, "first")
  yield* settle
  return { net, one, two, envId: env_id }
})

const deploy = (node: Node, module: keyof typeof modules) => {
  const zip = trustedZip(module)
  const hash = createHash("sha256").update(zip).digest("hex")
  return node.run(
    Builds.use((builds) =>
      Effect.flatMap(builds.upload("shop", { zip, hash }), ({ build }) => builds.deploy("shop", build.build_id))
    )
  )
}

const publish = (node: Node) => node.run(Events.use((events) => events.publish({ type: "order:created", data: null })))

const subscribe = (node: Node, after?: string) => node.run(Streams.use((streams) => streams.ofEnv(after)))

/** Takes the pending activity of a subscription, without messages that are not stored, and the position after it. */
const takeAll = (subscription: Subscription) =>
  Effect.gen(function* () {
    yield* subscription.wake
    const batches = yield* subscription.take
    const messages = typeof batches === "string" ? assert.fail(`the subscription ended: ${batches}`) : batches.flat()
    return {
      entries: messages.flatMap(({ activity }) => (activity.type === "event:handled" ? [] : [summarize(activity)])),
      position: messages.at(-1)?.position ?? subscription.begin
    }
  })

const summarize = (activity: ActivityEvent) =>
  `${activity.type} ${"event_id" in activity ? activity.event_id : activity.stream_id}`

const ofRun = ({ event_id, stream_id }: { readonly event_id: string; readonly stream_id: string }) => [
  `stream:created ${stream_id}`,
  `event:created ${event_id}`,
  `run:start ${stream_id}`,
  `run:stop ${stream_id}`
]

const on = (
  body: Effect.Effect<void, unknown, BusNetwork | Scope.Scope>,
  network: Layer.Layer<BusNetwork> = memoryNetwork()
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(body, scope))
    yield* during(Scope.close(scope, Exit.void))
    yield* exit
  }).pipe(Effect.provide(network))

describe("nodes that share a cluster bus", () => {
  it.effect("send activity to subscribers of another node", () =>
    on(
      Effect.gen(function* () {
        const { one, two } = yield* setUp
        const subscription = yield* subscribe(one)
        yield* settle
        const event = yield* publish(two)
        yield* settle
        assert.deepStrictEqual((yield* takeAll(subscription)).entries, ofRun(event))
      })
    )
  )

  it.effect("replay missed activity once after an outage of the bus", () =>
    on(
      Effect.gen(function* () {
        const { net, one, two } = yield* setUp
        const subscription = yield* subscribe(one)
        yield* pass(10_000)
        yield* net.cut
        const own = yield* publish(one)
        const other = yield* publish(two)
        yield* settle
        const before = yield* takeAll(subscription)
        assert.deepStrictEqual(before.entries, ofRun(own))
        yield* net.restore
        yield* pass(10_000)
        const after = yield* takeAll(subscription)
        assert.sameMembers(after.entries, ofRun(other))
        assert.lengthOf(after.entries, 4)
      })
    )
  )

  it.effect("resume a client from another node without a gap, also from a disconnected node", () =>
    on(
      Effect.gen(function* () {
        const { net, one, two } = yield* setUp
        const subscription = yield* subscribe(one)
        yield* pass(10_000)
        yield* publish(one)
        yield* settle
        const { position } = yield* takeAll(subscription)
        yield* pass(60_000)
        yield* net.cut
        yield* pass(30_000)
        const missed = yield* publish(two)
        yield* pass(30_000)
        // The client receives this event, but not the missed one before it.
        const own = yield* publish(one)
        yield* settle
        const last = yield* takeAll(subscription)
        assert.deepStrictEqual(last.entries, ofRun(own))
        const before = yield* takeAll(yield* subscribe(two, position))
        assert.includeMembers(before.entries, [...ofRun(missed), ...ofRun(own)])
        const after = yield* takeAll(yield* subscribe(two, last.position))
        assert.includeMembers(after.entries, [...ofRun(missed), ...ofRun(own)])
      })
    )
  )

  it.effect("use the deployed build as soon as they notice a missed control message", () => {
    let isLost = false
    const layer = memoryNetwork({ sent: (texts) => (isLost ? [] : texts) })
    return on(
      Effect.gen(function* () {
        const { one, two } = yield* setUp
        yield* publish(two)
        isLost = true
        yield* deploy(one, "second")
        isLost = false
        const publishAndRead = Effect.gen(function* () {
          const { event_id } = yield* publish(two)
          yield* settle
          const [run] = yield* two.run(Runs.use((runs) => runs.ofEvent(event_id)))
          return run?.result
        })
        assert.strictEqual(yield* publishAndRead, '"first"')
        // The sequence number shows that a message was lost.
        yield* one.run(ClusterBus.use((bus) => bus.sendControl([{ type: "schedules:changed" }])))
        yield* settle
        assert.strictEqual(yield* publishAndRead, '"second"')
      }),
      layer
    )
  })
})
