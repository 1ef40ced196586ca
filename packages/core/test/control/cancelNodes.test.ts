/** Cancelling where more than one node is there, and what is left of runs whose node goes. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Env,
  JournalStore,
  layer,
  MemoryStores,
  NodeId,
  RunControl,
  Runs,
  Timestamp,
  type TrustedFunction,
  type TrustedSvc,
  trustedSandbox
} from "@weft/core"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, runsOf, settle, world } from "../world.ts"

/** Ends what goes on for ever, or the world would wait for it. */
const letGo = new Set<(value: string) => void>()
const endAll = Effect.sync(() => {
  for (const resolve of letGo) resolve("let go")
  letGo.clear()
})

const signals: Array<{ readonly aborted: boolean }> = []

const hangs: TrustedFunction = Object.assign(
  (_: unknown, { signal, log }: TrustedSvc) => {
    if (signal instanceof AbortSignal) signals.push(signal)
    log.info("began")
    return new Promise<string>((resolve) => letGo.add(resolve))
  },
  { meta: { event: "job" } }
)

const modules = { app: { main: { hangs } } }

const cancel = (env: Env, id: string) =>
  asHost(
    env,
    RunControl.use((control) => control.cancel(id))
  )

const cancelAll = (env: Env) =>
  asHost(
    env,
    RunControl.use((control) => control.cancelAll({}))
  )

/** Publishes, and gives the run that began. */
const begun = Effect.fnUntraced(function* (env: Env, type: string) {
  const event = yield* publish(env, type)
  yield* settle
  const [run] = yield* runsOf(env, event.event_id)
  if (run === undefined) return yield* Effect.die(new Error("no run began"))
  return run
})

const logsOf = (env: Env, id: string) =>
  Effect.map(
    asHost(
      env,
      Runs.use((runs) => runs.logs(id, { limit: 10, offset: 0 }))
    ),
    ({ items }) => items.map((entry) => entry.message)
  )

describe("cancelling on another node", () => {
  const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))

  it.effect("reaches the node that runs it, and its log can be read on both", () =>
    Effect.gen(function* () {
      signals.length = 0
      const scope = yield* Scope.Scope
      const first = yield* Layer.buildWithScope(node, scope)
      const { env, run } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, run: yield* begun(env, "job") }
        }),
        first
      )
      const second = yield* Layer.buildWithScope(node, scope)
      yield* Effect.provideContext(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* logsOf(env, run.run_id), [])
          yield* TestClock.adjust("2 seconds")
          yield* settle
          assert.deepStrictEqual(yield* logsOf(env, run.run_id), ["began"])
          yield* cancel(env, run.run_id)
          yield* settle
          assert.isTrue(signals[0]?.aborted)
          assert.deepStrictEqual(yield* logsOf(env, run.run_id), ["began"])
        }),
        second
      )
      assert.strictEqual((yield* Effect.provideContext(allRuns(env), first))[0]?.status, "cancelled")
    }).pipe(Effect.ensuring(endAll), Effect.scoped, Effect.provide(MemoryStores.layer))
  )
})

describe("what a run has logged", () => {
  it.effect("is kept when its node stops before it ends", () =>
    Effect.gen(function* () {
      const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox(modules)))
      const scope = yield* Scope.make()
      const first = yield* Layer.buildWithScope(node, scope)
      const { env, run } = yield* Effect.provideContext(
        Effect.gen(function* () {
          const env = yield* deployed("app")
          return { env, run: yield* begun(env, "job") }
        }),
        first
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("31 seconds")
      yield* Fiber.join(closing)
      yield* Effect.provide(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* logsOf(env, run.run_id), ["began"])
          yield* TestClock.adjust("2 seconds")
          yield* settle
          assert.strictEqual(yield* cancelAll(env), 1)
          yield* settle
        }),
        node
      )
    }).pipe(Effect.ensuring(endAll), Effect.provide(MemoryStores.layer))
  )

  it.effect("is let go of when another node took the run for lost, and what goes on in vain is stopped", () =>
    Effect.gen(function* () {
      signals.length = 0
      const journal = yield* JournalStore
      const env = yield* deployed("app")
      const run = yield* begun(env, "job")
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

describe("cancelling at once", () => {
  it.effect("stops what is about to begin as well as what has just begun", () =>
    Effect.gen(function* () {
      const env = yield* deployed("app")
      for (let turn = 0; turn < 40; turn++) {
        signals.length = 0
        const event = yield* publish(env, "job")
        for (let yields = 0; yields < turn % 8; yields++) yield* Effect.yieldNow
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
