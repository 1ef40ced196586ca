import { assert, describe, it } from "@effect/vitest"
import { Dispatcher, Events, layer, StoreUnavailable, type WeftServices } from "@weft/core"
import { fresh, JournalStore, NodeId, RunId, Timestamp } from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { asHost, deployed, masterKeys, publish, runsOf, settle } from "../../world.ts"

const once: TrustedFunction = Object.assign((_event: unknown, svc: { run: { attempt: number } }) => svc.run.attempt, {
  meta: { event: "job" }
})
const modules = { app: { main: { once } } }

describe("a node", () => {
  it.effect("fails runs of a dead node as NodeLost and retries them without counting the attempt", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      const now = Timestamp.make(1_000)
      const dead = { node_id: yield* fresh(NodeId), until: Timestamp.make(5_000) }
      const runIds = [yield* fresh(RunId)]

      // A node without slots stores an event; another claims its delivery and dies.
      const storing = layer({ masterKeys, deliveries: { total: 0, perEnv: 0 } }).pipe(
        Layer.provide(trustedSandbox(modules))
      )
      const { env, event } = yield* Effect.provide(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, event: yield* publish(env, "job") }
        }),
        storing
      )
      const { claims } = yield* journal.claim({ lease: dead, now, runIds, perEnv: 10, exclude: [], freed: [] })
      assert.strictEqual(claims.length, 1)
      yield* TestClock.adjust("6 seconds")

      yield* Effect.provide(
        Effect.gen(function* () {
          yield* settle
          const [retried, lost] = yield* runsOf(env, event.event_id)
          assert.strictEqual(lost?.run_id, runIds[0])
          assert.strictEqual(lost?.status, "failed")
          assert.include(lost?.result ?? "", '"NodeLost"')
          assert.strictEqual(retried?.status, "succeeded")
          assert.strictEqual(retried?.result, "1")
        }),
        layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))
      )
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )

  it.effect("has a grace period of 30 s at shutdown, then releases its deliveries", () =>
    Effect.gen(function* () {
      let hangs = true
      const app = {
        main: { slow: Object.assign(() => (hangs ? new Promise(() => {}) : "done"), { meta: { event: "job" } }) }
      }
      const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox({ app })))
      const scope = yield* Scope.make()
      const first = yield* Layer.buildWithScope(node, scope)
      const { env, event } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          const event = yield* publish(env, "job")
          yield* settle
          return { env, event }
        }),
        first
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)

      hangs = false
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* TestClock.adjust("2 seconds")
          yield* settle
          assert.deepStrictEqual(
            (yield* runsOf(env, event.event_id)).map((run) => [run.status, run.attempt]),
            [
              ["succeeded", 1],
              ["failed", 1]
            ]
          )
        }),
        node
      )
    }).pipe(Effect.provide(MemoryStores.layer))
  )

  it.effect("renews its lease during a run that is longer than the lease", () =>
    Effect.gen(function* () {
      let finish = (): void => {}
      const slow = () => new Promise((resolve) => (finish = () => resolve("done")))
      const app = { main: { slow: Object.assign(slow, { meta: { event: "job", timeout: 300_000 } }) } }
      const node = layer({ masterKeys, leaseMs: 10_000 }).pipe(Layer.provide(trustedSandbox({ app })))
      const scope = yield* Effect.scope
      const first = yield* Layer.buildWithScope(Layer.fresh(node), scope)
      yield* Layer.buildWithScope(Layer.fresh(node), scope)
      yield* Effect.gen(function* () {
        const env = yield* deployed("app")
        const event = yield* publish(env, "job")
        yield* settle
        for (let second = 0; second < 120; second++) yield* TestClock.adjust("1 second")
        finish()
        yield* settle
        const runs = yield* runsOf(env, event.event_id)
        assert.deepStrictEqual(
          runs.map((run) => [run.status, run.attempt]),
          [["succeeded", 1]]
        )
        assert.strictEqual(runs[0]?.result, '"done"')
      }).pipe(Effect.provideContext(first))
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.layer))
  )

  it.effect("leaves new deliveries to other nodes while it drains, and no pending work after it", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const makeModules = (node: string) => ({
        app: {
          main: {
            slow: Object.assign(
              async (event: { readonly event_data: { readonly ms: number } }) => {
                await sleep(event.event_data.ms)
                ended.push(node)
                return node
              },
              { meta: { event: "slow", concurrency: { limit: 1 } } }
            )
          }
        }
      })
      const context = yield* Effect.context<never>()
      const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms))
      const startNode = Effect.fnUntraced(function* (name: string) {
        const scope = yield* Scope.make()
        const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(makeModules(name))))
        const services = yield* Layer.buildWithScope(Layer.fresh(node), scope)
        return {
          on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, services),
          close: Scope.close(scope, Exit.void)
        }
      })
      const one = yield* startNode("one")
      const env = yield* one.on(deployed("app"))
      const publishSlow = (ms: number) =>
        asHost(
          env,
          Events.use((events) => events.publish({ type: "slow", data: { ms } }))
        )
      yield* one.on(publishSlow(5_000))
      yield* settle
      const two = yield* startNode("two")
      const draining = yield* Effect.forkChild(one.on(Dispatcher.use((dispatcher) => dispatcher.drain)))
      yield* settle
      // The group is full until the first run has ended, on the node that drains.
      yield* one.on(publishSlow(1_000))
      yield* settle
      assert.isUndefined(draining.pollUnsafe())
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(draining)
      yield* one.close
      yield* settle
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(ended, ["one", "two"])
      const journal = yield* JournalStore
      const now = Timestamp.make(1_000_000)
      assert.deepStrictEqual(yield* journal.findPendingWork(yield* fresh(NodeId), now), {
        orphans: false,
        next_due_at: null,
        parked: false,
        next_tick_at: null,
        removals: false,
        previews: false,
        awaiting: false,
        invoking: false,
        canaries_version: "0:0",
        operations: false,
        next_alert_at: null,
        pauses_version: "0:0"
      })
      yield* two.close
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )

  it.effect("has unsettled runs retried by the next poll after its shutdown, before its lease ends", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      const leaseMs = 3_600_000
      const failingJournal = Layer.effect(
        JournalStore,
        Effect.map(JournalStore, (store) => ({
          ...store,
          // As if the store was unavailable whenever a run ends.
          commit: (...args: Parameters<typeof store.commit>) =>
            args[0].some((entry) => entry._tag === "Settled")
              ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: "away" }))
              : store.commit(...args)
        }))
      )
      const scope = yield* Scope.make()
      const node = layer({ masterKeys, leaseMs }).pipe(Layer.provide(trustedSandbox(modules)))
      const services = yield* Layer.buildWithScope(Layer.fresh(Layer.provide(node, failingJournal)), scope)
      const { env, event } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, event: yield* publish(env, "job") }
        }),
        services
      )
      yield* settle
      const other = yield* fresh(NodeId)
      assert.isFalse((yield* journal.findPendingWork(other, Timestamp.make(60_000))).orphans)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("40 seconds")
      assert.isDefined(closing.pollUnsafe())
      assert.isTrue((yield* journal.findPendingWork(other, Timestamp.make(60_000))).orphans)
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* settle
          assert.deepStrictEqual(
            (yield* runsOf(env, event.event_id)).map((run) => run.status),
            ["succeeded", "failed"]
          )
        }),
        node
      )
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )
})
