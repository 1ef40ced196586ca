import { assert, describe, it } from "@effect/vitest"
import {
  fresh,
  JournalStore,
  layer,
  MemoryStores,
  NodeId,
  RunId,
  Timestamp,
  type TrustedFunction,
  trustedSandbox
} from "@weft/core"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { deployed, masterKeys, publish, runsOf, settle } from "../world.ts"

const once: TrustedFunction = Object.assign((_event: unknown, svc: { run: { attempt: number } }) => svc.run.attempt, {
  meta: { event: "job" }
})
const modules = { app: { main: { once } } }

describe("nodes that die", () => {
  it.effect("what a dead node held is failed as NodeLost and tried again, uncharged", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      const now = Timestamp.make(1_000)
      const dead = { node_id: yield* fresh(NodeId), until: Timestamp.make(5_000) }
      const runIds = [yield* fresh(RunId)]

      // A life before: a node without slots stores an event, another claims its delivery and dies.
      const lived = layer({ masterKeys, deliveries: { total: 0, perEnv: 0 } }).pipe(
        Layer.provide(trustedSandbox(modules))
      )
      const { env, event } = yield* Effect.provide(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, event: yield* publish(env, "job") }
        }),
        lived
      )
      const { claims } = yield* journal.claim({ lease: dead, now, runIds, perEnv: 10, exclude: [] })
      assert.strictEqual(claims.length, 1)
      yield* TestClock.adjust("6 seconds")

      yield* Effect.provide(
        Effect.gen(function* () {
          yield* settle
          const [again, lost] = yield* runsOf(env, event.event_id)
          assert.strictEqual(lost?.run_id, runIds[0])
          assert.strictEqual(lost?.status, "failed")
          assert.include(lost?.result ?? "", '"NodeLost"')
          assert.strictEqual(again?.status, "succeeded")
          assert.strictEqual(again?.result, "1")
        }),
        layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))
      )
    }).pipe(Effect.provide(Layer.merge(MemoryStores.layer, SecureRandom.layerWebCrypto)))
  )

  it.effect("a node that stops gives what runs 30 seconds, then gives it back", () =>
    Effect.gen(function* () {
      let hangs = true
      const app = {
        main: { patient: Object.assign(() => (hangs ? new Promise(() => {}) : "done"), { meta: { event: "job" } }) }
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

  it.effect("a run may take longer than the lease of its node, which says all the while that it is alive", () =>
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
        assert.deepStrictEqual(
          (yield* runsOf(env, event.event_id)).map((run) => [run.status, run.attempt, run.result]),
          [["succeeded", 1, '"done"']]
        )
      }).pipe(Effect.provideContext(first))
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.layer))
  )
})
