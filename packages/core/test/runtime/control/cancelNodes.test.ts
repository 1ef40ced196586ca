/** Cancelling with several nodes, and the logs of runs whose node shuts down. */
import { assert, describe, it } from "@effect/vitest"
import { layer } from "@weft/core"
import { JournalStore, NodeId, Timestamp } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, masterKeys, publish, runsOf, settle, world } from "../../world.ts"
import { cancel, cancelAll, endAll, hangs, readLogs, signals, startRun } from "./PendingRuns.ts"

const modules = { app: { main: { hangs: hangs({ event: "job" }) } } }

describe("cancelling on another node", () => {
  const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))

  it.effect("stops the run on its node, and its log can be read on both nodes", () =>
    Effect.gen(function* () {
      signals.length = 0
      const scope = yield* Scope.Scope
      const first = yield* Layer.buildWithScope(node, scope)
      const { env, run } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, run: yield* startRun(env, "job") }
        }),
        first
      )
      const second = yield* Layer.buildWithScope(node, scope)
      yield* Effect.provideContext(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* readLogs(env, run.run_id), [])
          yield* TestClock.adjust("2 seconds")
          yield* settle
          assert.deepStrictEqual(yield* readLogs(env, run.run_id), ["began"])
          yield* cancel(env, run.run_id)
          yield* settle
          assert.isTrue(signals[0]?.aborted)
          assert.deepStrictEqual(yield* readLogs(env, run.run_id), ["began"])
        }),
        second
      )
      assert.strictEqual((yield* Effect.provideContext(allRuns(env), first))[0]?.status, "cancelled")
    }).pipe(Effect.ensuring(endAll), Effect.scoped, Effect.provide(MemoryStores.layer))
  )
})

describe("the log of a run", () => {
  it.effect("is kept if its node shuts down before the run ends", () =>
    Effect.gen(function* () {
      const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))
      const scope = yield* Scope.make()
      const first = yield* Layer.buildWithScope(node, scope)
      const { env, run } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, run: yield* startRun(env, "job") }
        }),
        first
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("31 seconds")
      yield* Fiber.join(closing)
      yield* Effect.provide(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* readLogs(env, run.run_id), ["began"])
          yield* TestClock.adjust("2 seconds")
          yield* settle
          assert.strictEqual(yield* cancelAll(env), 1)
          yield* settle
        }),
        node
      )
    }).pipe(Effect.ensuring(endAll), Effect.provide(MemoryStores.layer))
  )

  it.effect("is not written any more if another node considered the run lost, and its code is stopped", () =>
    Effect.gen(function* () {
      signals.length = 0
      const journal = yield* JournalStore
      const env = yield* deployed("app")
      const run = yield* startRun(env, "job")
      const [lost, ...others] = yield* journal.reap(NodeId.make(env.env_id), Timestamp.make(100_000), 10)
      assert.deepStrictEqual([lost?.run_id, others.length], [run.run_id, 0])
      yield* TestClock.adjust("65 seconds")
      yield* settle
      assert.isTrue(signals[0]?.aborted)
      const runs = yield* runsOf(env, run.event_id ?? "")
      assert.strictEqual(runs.find((one) => one.run_id === run.run_id)?.status, "failed")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.strictEqual(yield* cancelAll(env), 1)
      yield* settle
    }).pipe(Effect.ensuring(endAll), Effect.provide(world(modules)))
  )
})

describe("cancelling at the start", () => {
  it.effect("stops runs before and after their code has startRun", () =>
    Effect.gen(function* () {
      const env = yield* deployed("app")
      for (let round = 0; round < 40; round++) {
        signals.length = 0
        const event = yield* publish(env, "job")
        for (let yields = 0; yields < round % 8; yields++) yield* Effect.yieldNow
        const [run] = yield* runsOf(env, event.event_id)
        assert.strictEqual((yield* cancel(env, run?.run_id ?? "")).status, "cancelled")
        yield* settle
        assert.isTrue(signals.every((signal) => signal.aborted))
      }
      const runs = yield* allRuns(env)
      assert.strictEqual(runs.filter((run) => run.status === "cancelled").length, 40)
    }).pipe(Effect.ensuring(endAll), Effect.provide(world(modules)))
  )
})
