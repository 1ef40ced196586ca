/** Runs whose activations end without progress, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer } from "@weft/core"
import { type Outcome, Sandbox } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { deployed, immediateTurns, masterKeys, settle } from "../../world.ts"
import { begin, durable, errorOf, pass, runOf } from "./DurableFunction.ts"

const usage = { cpu_ms: 1, wall_ms: 1, heap_bytes: 1 }

/** Invocations so far, and their outcomes instead of an execution. */
interface Losses {
  invoked: number
  readonly outcomeOf: (invocation: number) => Outcome | null
}

const lossy = (losses: Losses, fn: ReturnType<typeof durable>) =>
  layer({ masterKeys }).pipe(
    Layer.provideMerge(MemoryStores.layer),
    Layer.provide(
      Layer.effect(
        Sandbox,
        Effect.map(Sandbox, (sandbox) =>
          Sandbox.of({
            ...sandbox,
            invoke: (invocation) => {
              const outcome = losses.outcomeOf(++losses.invoked)
              return outcome === null ? sandbox.invoke(invocation) : Effect.succeed({ outcome, usage })
            }
          })
        )
      ).pipe(Layer.provideMerge(immediateTurns), Layer.provide(trustedSandbox({ shop: { main: { fn } } })))
    )
  )

const lost: Outcome = { _tag: "RunnerLost", message: "the process ended with SIGSEGV" }

const napping = durable("nap", async (_, svc) => {
  await svc.step("first", () => 1)
  await svc.sleep("nap", "1h")
  return "rested"
})

describe("a run whose runner is lost", () => {
  it.effect("fails with NoProgress after 8 activations without a record, with growing pauses", () => {
    const losses: Losses = { invoked: 0, outcomeOf: () => lost }
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "nap")
      for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 64].entries()) {
        assert.strictEqual(losses.invoked, index + 1)
        yield* pass((seconds - 0.5) * 1000)
        assert.strictEqual(losses.invoked, index + 1)
        yield* pass(500)
        yield* settle
      }
      assert.strictEqual(losses.invoked, 8)
      const { status, name, message } = yield* errorOf(env, id)
      assert.deepStrictEqual([status, name], ["failed", "NoProgress"])
      assert.include(message, "8 activations in a row ended before they recorded a result")
      assert.include(message, "RunnerLost: the process ended with SIGSEGV")
    }).pipe(Effect.provide(lossy(losses, napping)))
  })

  it.effect("continues, and counts from 1 again after a record", () => {
    const losses: Losses = { invoked: 0, outcomeOf: (n) => (n <= 7 || (n >= 9 && n <= 14) ? lost : null) }
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "nap")
      for (let n = 0; n < 130; n++) yield* pass("1 second")
      assert.strictEqual(losses.invoked, 8)
      assert.include(yield* runOf(env, id), { status: "running" })
      yield* pass("1 hour")
      for (let n = 0; n < 130; n++) yield* pass("4 seconds")
      assert.strictEqual(losses.invoked, 15)
      assert.strictEqual((yield* runOf(env, id)).result, '"rested"')
    }).pipe(Effect.provide(lossy(losses, napping)))
  })

  it.effect("fails at once if its new code exhausts the processor, and is repeated if the replay does", () => {
    const exhausted: Outcome = { _tag: "CpuExhausted", limitMs: 100 }
    const losses: Losses = { invoked: 0, outcomeOf: (n) => (n === 2 ? exhausted : null) }
    const first: Losses = { invoked: 0, outcomeOf: () => exhausted }
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "nap")
      yield* pass("1 hour")
      assert.include(yield* runOf(env, id), { status: "running" })
      yield* pass("1 second")
      assert.strictEqual((yield* runOf(env, id)).result, '"rested"')
    }).pipe(
      Effect.provide(lossy(losses, napping)),
      Effect.andThen(
        Effect.gen(function* () {
          const env = yield* deployed("shop")
          const id = yield* begin(env, "nap")
          assert.strictEqual((yield* errorOf(env, id)).name, "CpuExhausted")
        }).pipe(Effect.provide(lossy(first, napping)))
      )
    )
  })
})
