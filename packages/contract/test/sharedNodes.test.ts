/** Whole nodes that share stores and a feed which can be cut: what they make up for, in virtual time. */

import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { FeedNet } from "@weft/contract"
import {
  type Activity,
  Builds,
  Caller,
  Events,
  Feed,
  hostIdentity,
  layer,
  MemoryStores,
  Projects,
  Runs,
  Streams,
  type Subscription,
  Tenants,
  trustedSandbox,
  trustedZip,
  type WeftServices
} from "@weft/core"
import { type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { timeOf } from "../src/LifecycleNodes.ts"
import { feedLine } from "./FeedLine.ts"

const { during, pass } = timeOf(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))
const settle = pass(1000)

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const
const modules = {
  first: { main: { onOrder: Object.assign(() => "first", { meta: { event: "order:created" } }) } },
  second: { main: { onOrder: Object.assign(() => "second", { meta: { event: "order:created" } }) } }
}

interface Node {
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, WeftServices | Feed | Caller | Scope.Scope>
  ) => Effect.Effect<A, E, Scope.Scope>
}

/** Nodes on the same stores; with an environment of a project, for which `run` acts as the host. */
const world = Effect.gen(function* () {
  const net = yield* FeedNet
  const stores = yield* Layer.build(Layer.merge(MemoryStores.database, MemoryStores.blobs))
  const start = Effect.gen(function* () {
    const feed = Layer.effect(Feed, Effect.orDie(net.node))
    const weft = layer({ masterKeys }).pipe(
      Layer.provide(trustedSandbox(modules)),
      Layer.provideMerge(feed),
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
  const nodeOf = (services: Context.Context<WeftServices | Feed>): Node => ({
    run: (effect) =>
      during(effect.pipe(Effect.provideService(Caller, hostIdentity(env_id)), Effect.provideContext(services)))
  })
  const [one, two] = [nodeOf(nodes[0]), nodeOf(nodes[1])]
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

const watch = (node: Node, after?: string) => node.run(Streams.use((streams) => streams.ofEnv(after)))

/** What there is to be taken now, without what is stored nowhere, and where it ends. */
const taken = (subscription: Subscription) =>
  Effect.gen(function* () {
    yield* subscription.nudge
    const news = yield* subscription.take
    const messages = typeof news === "string" ? assert.fail(`it ended: ${news}`) : news.flat()
    return {
      facts: messages.flatMap(({ activity }) => (activity.type === "event:handled" ? [] : [factOf(activity)])),
      position: messages.at(-1)?.position ?? subscription.begin
    }
  })

const factOf = (activity: Activity) =>
  `${activity.type} ${"event_id" in activity ? activity.event_id : activity.stream_id}`

const ofRun = ({ event_id, stream_id }: { readonly event_id: string; readonly stream_id: string }) => [
  `stream:created ${stream_id}`,
  `event:created ${event_id}`,
  `run:start ${stream_id}`,
  `run:stop ${stream_id}`
]

const on = (body: Effect.Effect<void, unknown, FeedNet | Scope.Scope>, line: Layer.Layer<FeedNet> = feedLine()) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(body, scope))
    yield* during(Scope.close(scope, Exit.void))
    yield* exit
  }).pipe(Effect.provide(line))

describe("nodes that share a feed", () => {
  it.effect("tell those who watch at another", () =>
    on(
      Effect.gen(function* () {
        const { one, two } = yield* world
        const watched = yield* watch(one)
        yield* settle
        const event = yield* publish(two)
        yield* settle
        assert.deepStrictEqual((yield* taken(watched)).facts, ofRun(event))
      })
    )
  )

  it.effect("tell what was missed when they hear each other again, once", () =>
    on(
      Effect.gen(function* () {
        const { net, one, two } = yield* world
        const watched = yield* watch(one)
        yield* pass(10_000)
        yield* net.cut
        const own = yield* publish(one)
        const other = yield* publish(two)
        yield* settle
        const before = yield* taken(watched)
        assert.deepStrictEqual(before.facts, ofRun(own))
        yield* net.mend
        yield* pass(10_000)
        const after = yield* taken(watched)
        assert.sameMembers(after.facts, ofRun(other))
        assert.lengthOf(after.facts, 4)
      })
    )
  )

  it.effect("let a client that comes from another node go on without a gap, also one that could not hear", () =>
    on(
      Effect.gen(function* () {
        const { net, one, two } = yield* world
        const watched = yield* watch(one)
        yield* pass(10_000)
        yield* publish(one)
        yield* settle
        const { position } = yield* taken(watched)
        yield* pass(60_000)
        yield* net.cut
        yield* pass(30_000)
        const missed = yield* publish(two)
        yield* pass(30_000)
        // The client hears of this, but not of what was before.
        const own = yield* publish(one)
        yield* settle
        const last = yield* taken(watched)
        assert.deepStrictEqual(last.facts, ofRun(own))
        const before = yield* taken(yield* watch(two, position))
        assert.includeMembers(before.facts, [...ofRun(missed), ...ofRun(own)])
        const after = yield* taken(yield* watch(two, last.position))
        assert.includeMembers(after.facts, [...ofRun(missed), ...ofRun(own)])
      })
    )
  )

  it.effect("go by what was deployed as soon as they know that they missed news", () => {
    let isLost = false
    const layer = feedLine({ sent: (texts) => (isLost ? [] : texts) })
    return on(
      Effect.gen(function* () {
        const { one, two } = yield* world
        yield* publish(two)
        isLost = true
        yield* deploy(one, "second")
        isLost = false
        const resultOf = Effect.gen(function* () {
          const { event_id } = yield* publish(two)
          yield* settle
          const [run] = yield* two.run(Runs.use((runs) => runs.ofEvent(event_id)))
          return run?.result
        })
        assert.strictEqual(yield* resultOf, '"first"')
        // Its number tells that there was one before.
        yield* one.run(Feed.use((feed) => feed.tell([{ type: "schedules:changed" }])))
        yield* settle
        assert.strictEqual(yield* resultOf, '"second"')
      }),
      layer
    )
  })
})
