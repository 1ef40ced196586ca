/** Concurrency limits of functions across the cluster, also when nodes die. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, layer, type RuntimeConfig } from "@weft/core"
import {
  type Event,
  fresh,
  JournalStore,
  NodeId,
  now,
  type Run,
  RunId,
  Timestamp,
  toJsonText
} from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { allRuns, asHost, deployed, masterKeys, runsOf, settle } from "../../world.ts"

interface Job {
  readonly customer: string
  readonly ms: number
  readonly n: number
}

/** Current and maximum concurrent runs by customer. */
class Gauge {
  readonly now = new Map<string, number>()
  readonly max = new Map<string, number>()
  readonly order: Array<number> = []

  begin(customer: string): void {
    const count = (this.now.get(customer) ?? 0) + 1
    this.now.set(customer, count)
    this.max.set(customer, Math.max(count, this.max.get(customer) ?? 0))
  }

  end(customer: string): void {
    this.now.set(customer, (this.now.get(customer) ?? 0) - 1)
  }
}

/** Returns functions that last as long as their event states, in virtual time. */
const app = (gauge: Gauge, sleep: (ms: number) => Promise<void>) => {
  const work = async ({ event_data: { customer, ms, n } }: { readonly event_data: Job }) => {
    gauge.begin(customer)
    gauge.order.push(n)
    await sleep(ms)
    gauge.end(customer)
    return n
  }
  const on = (meta: object): TrustedFunction =>
    Object.assign((event: { readonly event_data: Job }) => work(event), { meta })
  return {
    app: {
      main: {
        one: on({ event: "one", concurrency: { limit: 1 } }),
        three: on({ event: "three", concurrency: { limit: 3 } }),
        each: on({ event: "each", concurrency: { limit: 2, key: "customer" } }),
        reads: on({ event: "reads", concurrency: { limit: 3, key: "customer", name: "crm" } }),
        writes: on({ event: "writes", concurrency: { limit: 1, key: "customer", name: "crm" } }),
        free: on({ event: "free" })
      }
    }
  }
}

/** Starts a separate node on the provided stores. */
const startNode = Effect.fnUntraced(function* (gauge: Gauge, config: Omit<RuntimeConfig, "masterKeys"> = {}) {
  const scope = yield* Scope.make()
  const context = yield* Effect.context<never>()
  const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms))
  const node = layer({ masterKeys, ...config }).pipe(Layer.provide(trustedSandbox(app(gauge, sleep))))
  const services = yield* Layer.buildWithScope(Layer.fresh(node), scope)
  return {
    in: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services),
    stop: Scope.close(scope, Exit.void)
  }
})

const publish = (env: Env, type: string, data: Job) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type, data: { ...data } }))
  )

const advance = Effect.fnUntraced(function* (ms: number) {
  for (let done = 0; done < ms; done += 50) {
    yield* TestClock.adjust(50)
    yield* settle
  }
})

describe("concurrency of a function", () => {
  it.effect("of 1 runs deliveries one after the other, in the order of publication", () =>
    Effect.gen(function* () {
      const gauge = new Gauge()
      const node = yield* startNode(gauge)
      const env = yield* node.in(deployed("app"))
      for (let n = 0; n < 6; n++) yield* node.in(publish(env, "one", { customer: "a", ms: 100, n }))
      yield* node.in(publish(env, "free", { customer: "b", ms: 1, n: 100 }))
      yield* advance(200)
      assert.include(gauge.order, 100)
      yield* advance(1500)
      assert.deepStrictEqual(
        gauge.order.filter((n) => n < 100),
        [0, 1, 2, 3, 4, 5]
      )
      assert.strictEqual(gauge.max.get("a"), 1)
      const runs = yield* node.in(allRuns(env))
      assert.isTrue(runs.every((run) => run.status === "succeeded"))
      assert.strictEqual(runs.length, 7)
      yield* node.stop
    }).pipe(Effect.provide(MemoryStores.layer))
  )

  it.effect("applies per value of the key", () =>
    Effect.gen(function* () {
      const gauge = new Gauge()
      const node = yield* startNode(gauge)
      const env = yield* node.in(deployed("app"))
      const long = "x".repeat(5000)
      for (let n = 0; n < 15; n++) {
        const customer = ["a", "b", long][n % 3] ?? ""
        yield* node.in(publish(env, "each", { customer, ms: 100, n }))
      }
      yield* advance(50)
      assert.deepStrictEqual([...gauge.now.values()], [2, 2, 2])
      yield* advance(800)
      assert.strictEqual(gauge.order.length, 15)
      assert.deepStrictEqual([...gauge.max.values()], [2, 2, 2])
      yield* node.stop
    }).pipe(Effect.provide(MemoryStores.layer))
  )

  it.effect("with a name is shared by all functions of the name, each with its own limit", () =>
    Effect.gen(function* () {
      const gauge = new Gauge()
      const node = yield* startNode(gauge)
      const env = yield* node.in(deployed("app"))
      for (const [n, type] of ["reads", "reads", "writes", "reads", "reads"].entries()) {
        yield* node.in(publish(env, type, { customer: "a", ms: 100, n }))
      }
      yield* node.in(publish(env, "writes", { customer: "b", ms: 100, n: 5 }))
      yield* advance(50)
      assert.deepStrictEqual(
        [...gauge.now],
        [
          ["a", 2],
          ["b", 1]
        ]
      )
      yield* advance(1_000)
      assert.deepStrictEqual(
        gauge.order.filter((n) => n < 5),
        [0, 1, 2, 3, 4]
      )
      assert.deepStrictEqual(gauge.max.get("a"), 3)
      yield* node.stop
    }).pipe(Effect.provide(MemoryStores.layer))
  )

  it.effect("is released when a node dies", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      const gauge = new Gauge()
      // A node without slots stores events; another claims one delivery and dies.
      const first = yield* startNode(gauge, { deliveries: { total: 0, perEnv: 0 } })
      const env = yield* first.in(deployed("app"))
      const events: Array<Event> = []
      for (let n = 0; n < 3; n++) events.push(yield* first.in(publish(env, "one", { customer: "a", ms: 10, n })))
      const dead = { node_id: yield* fresh(NodeId), until: Timestamp.make(60_000) }
      const runIds = [yield* fresh(RunId), yield* fresh(RunId)]
      const claimed = yield* journal.claim({ lease: dead, now: yield* now, runIds, perEnv: 10, exclude: [], freed: [] })
      assert.deepStrictEqual([claimed.claims.length, claimed.parked], [1, 2])

      const second = yield* startNode(gauge)
      yield* TestClock.adjust("50 seconds")
      yield* settle
      assert.deepStrictEqual(gauge.order, [])
      yield* TestClock.adjust("40 seconds")
      yield* advance(500)
      assert.deepStrictEqual(gauge.order, [0, 1, 2])
      assert.strictEqual(gauge.max.get("a"), 1)
      const statuses = yield* Effect.forEach(events, (event) =>
        Effect.map(second.in(runsOf(env, event.event_id)), (runs) => runs.map((run) => run.status))
      )
      assert.deepStrictEqual(statuses, [["succeeded", "failed"], ["succeeded"], ["succeeded"]])
      yield* second.stop
      yield* first.stop
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )

  it.effect("has parked deliveries unparked by another node if their node died", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      const gauge = new Gauge()
      const first = yield* startNode(gauge, { deliveries: { total: 0, perEnv: 0 } })
      const env = yield* first.in(deployed("app"))
      for (let n = 0; n < 3; n++) yield* first.in(publish(env, "one", { customer: "a", ms: 10, n }))
      const lease = { node_id: yield* fresh(NodeId), until: Timestamp.make(60_000) }
      const runIds = [yield* fresh(RunId)]
      const { claims } = yield* journal.claim({ lease, now: yield* now, runIds, perEnv: 10, exclude: [], freed: [] })
      const [claim] = claims
      assert.isDefined(claim)
      const { run, delivery } = claim
      const ended: Run = { ...run, status: "succeeded", stop_time: yield* now, result: toJsonText(null) }
      yield* journal.commit(
        [{ _tag: "Settled", run: ended, logs: [], deliveryId: delivery.delivery_id, next: null }],
        null
      )
      const second = yield* startNode(gauge)
      yield* TestClock.adjust("31 seconds")
      yield* advance(500)
      assert.deepStrictEqual(gauge.order, [1, 2])
      yield* second.stop
      yield* first.stop
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )
})

const job = fc.record({
  type: fc.constantFrom("one", "three", "each", "free"),
  customer: fc.constantFrom("a", "b", "c"),
  ms: fc.integer({ min: 1, max: 400 }),
  at: fc.integer({ min: 0, max: 20 }),
  node: fc.nat({ max: 1 })
})

describe("two nodes on one store", () => {
  it("never exceed the limit, and run every delivery", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 40 }), (jobs) =>
        Effect.runPromise(Effect.provide(cluster(jobs), Layer.merge(MemoryStores.layer, TestClock.layer())))
      ),
      { numRuns: 12 }
    )
  )
})

const limits: Readonly<Record<string, number>> = { one: 1, three: 3, each: 2 }

const cluster = Effect.fnUntraced(function* (
  jobs: ReadonlyArray<{ type: string; customer: string; ms: number; at: number; node: number }>
) {
  const gauge = new Gauge()
  const nodes = [yield* startNode(gauge), yield* startNode(gauge)] as const
  const env = yield* nodes[0].in(deployed("app"))
  for (let slot = 0; slot <= 20; slot++) {
    for (const [n, { type, customer, ms, at, node }] of jobs.entries()) {
      if (at !== slot) continue
      yield* (node === 0 ? nodes[0] : nodes[1]).in(
        publish(env, type, { customer: type === "each" ? `each ${customer}` : type, ms, n })
      )
    }
    yield* advance(50)
  }
  yield* advance(400 * jobs.length)
  for (const [customer, max] of gauge.max) {
    const limit = limits[customer.startsWith("each") ? "each" : customer]
    if (limit !== undefined) assert.isAtMost(max, limit, customer)
  }
  assert.sameMembers(
    gauge.order,
    jobs.map((_, n) => n)
  )
  for (const node of nodes) yield* node.stop
})
