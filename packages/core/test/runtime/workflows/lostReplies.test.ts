/** Durable runs of a node whose writes have an unknown result, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { deployed, immediateTurns, masterKeys, publish } from "../../world.ts"
import { durable, pass, runOf, settleAll } from "./DurableWorld.ts"

/** A complete Weft in memory. Its journal executes commits, but loses the replies while `losses.areLost`. */
const lossy = (losses: { areLost: boolean }, fn: ReturnType<typeof durable>) => {
  const lost = Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("the connection broke") }))
  const faults = Layer.effect(
    JournalStore,
    JournalStore.useSync((store) => ({
      ...store,
      commit: (...args) =>
        Effect.flatMap(store.commit(...args), (done) => (losses.areLost ? lost : Effect.succeed(done)))
    }))
  )
  return layer({ masterKeys }).pipe(
    Layer.provideMerge(Layer.provideMerge(faults, MemoryStores.layer)),
    Layer.provide([trustedSandbox({ shop: { main: { fn } } }), immediateTurns])
  )
}

describe("a durable run that continued", () => {
  it.effect("keeps its activation when its node compares its runs with the store", () => {
    const losses = { areLost: false }
    let bodies = 0
    let finish: (value: string) => void = () => undefined
    const fn = durable("go", async (_, svc) => {
      await svc.sleep("nap", "5s")
      return svc.step("long", () => {
        bodies++
        return new Promise<string>((resolve) => {
          finish = resolve
        })
      })
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("6 seconds")
      yield* settleAll
      assert.strictEqual(bodies, 1)
      losses.areLost = true
      yield* Effect.flip(publish(env, "other"))
      losses.areLost = false
      // The node compares its runs for 3 minutes.
      for (let comparison = 0; comparison < 3; comparison++) {
        yield* pass("31 seconds")
        yield* settleAll
      }
      const { status, activations, waiting } = yield* runOf(env, event_id)
      assert.deepStrictEqual([status, activations, waiting, bodies], ["running", 2, null, 1])
      finish("done")
      yield* settleAll
      const { result } = yield* runOf(env, event_id)
      assert.deepStrictEqual([result, bodies], ["done", 1])
    }).pipe(Effect.provide(lossy(losses, fn)))
  })
})
