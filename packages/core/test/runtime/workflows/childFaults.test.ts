/** Child runs whose publication or end is interrupted, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable } from "@weft/core"
import { AdmissionStore, WorkflowStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Latch, Layer } from "effect"
import { deployed, immediateTurns, masterKeys, publish } from "../../world.ts"
import { durable, pass, runOf, runsNamed, settleAll } from "./DurableWorld.ts"

const lost = Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("the answer was lost") }))

const done: Array<number> = []
const double = (n: number) => {
  done.push(n)
  return n * 2
}
const parent = durable("go", async (_, svc) => {
  const doubled = await svc.invoke("main/double", [3])
  await svc.call("main/double", [4])
  return doubled
})

const modules = { shop: { main: { double, parent } } }

/** A complete Weft in memory with a store that has faults. */
const faulty = <Faulty>(faults: Layer.Layer<Faulty, never, Faulty>) =>
  layer({ masterKeys }).pipe(
    Layer.provideMerge(Layer.provideMerge(faults, MemoryStores.layer)),
    Layer.provide([trustedSandbox(modules), immediateTurns])
  )

describe("a child run", () => {
  it.effect("starts once although answers to its publication are lost", () => {
    let answers = 0
    const faults = Layer.effect(
      AdmissionStore,
      AdmissionStore.useSync((store) => ({
        ...store,
        admit: (admission) => Effect.tap(store.admit(admission), () => (answers++ % 3 < 2 ? lost : Effect.void))
      }))
    )
    return Effect.gen(function* () {
      done.length = 0
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      // The node does not know of the stored delivery, which the next poll finds.
      for (let poll = 0; poll < 3; poll++) {
        yield* settleAll
        yield* pass("31 seconds")
      }
      const { status, result } = yield* runOf(env, event_id)
      assert.deepStrictEqual([status, result, done], ["succeeded", 6, [3, 4]])
      assert.isAtLeast(answers, 2)
      assert.strictEqual((yield* runsNamed(env, "double")).length, 2)
    }).pipe(Effect.provide(faulty(faults)))
  })

  it.effect("is stored before its parent is suspended, so that another node starts it after a crash", () => {
    const stored = Latch.makeUnsafe(false)
    const faults = Layer.effect(
      AdmissionStore,
      AdmissionStore.useSync((store) => ({
        ...store,
        admit: (admission) => Effect.andThen(stored.await, store.admit(admission))
      }))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      const active = yield* runOf(env, event_id)
      assert.deepStrictEqual([active.status, active.waiting], ["running", null])
      yield* stored.open
      yield* settleAll
      const { status, result } = yield* runOf(env, event_id)
      assert.deepStrictEqual([status, result], ["succeeded", 6])
    }).pipe(Effect.provide(faulty(faults)))
  })

  it.effect("gives its result to the parent at the next poll if its node could not", () => {
    let asked = 0
    const faults = Layer.effect(
      WorkflowStore,
      WorkflowStore.useSync((store) => ({
        ...store,
        endChildren: (...args) => (asked++ === 0 ? lost : store.endChildren(...args))
      }))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).status, "running")
      yield* pass("31 seconds")
      yield* settleAll
      const { status, result } = yield* runOf(env, event_id)
      assert.deepStrictEqual([status, result], ["succeeded", 6])
    }).pipe(Effect.provide(faulty(faults)))
  })
})
