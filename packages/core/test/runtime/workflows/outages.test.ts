/** Durable runs of a node whose store did not answer for a while, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable } from "@weft/core"
import { now as currentTime, JournalStore, NodeId, Timestamp, WorkflowStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { deployed, immediateTurns, masterKeys, publish, settle } from "../../world.ts"
import { logOf, durable as withLog } from "./DurableFunction.ts"
import { durable, pass, runOf } from "./DurableWorld.ts"

const unanswered = Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("the answer was lost") }))

const otherNode = NodeId.make("01977420-000a-7000-8000-000000000009")

/** A complete Weft in memory with a store that has faults. */
const faulty = <Faulty>(functions: TrustedModule[string], faults: Layer.Layer<Faulty, never, Faulty>) =>
  layer({ masterKeys }).pipe(
    Layer.provideMerge(Layer.provideMerge(faults, MemoryStores.layer)),
    Layer.provide([trustedSandbox({ shop: { main: functions } }), immediateTurns])
  )

const faultyLoad = (fault: <A>(read: Effect.Effect<A, StoreUnavailable>) => Effect.Effect<A, StoreUnavailable>) =>
  Layer.effect(
    WorkflowStore,
    WorkflowStore.useSync((store) => ({
      ...store,
      load: (run) => fault(store.load(run)),
      loadSmall: (...runs) => fault(store.loadSmall(...runs))
    }))
  )

describe("a run that continues", () => {
  it.effect("remains active after a claim of its node had no answer", () => {
    let isLost = false
    let lost = 0
    let bodies = 0
    let finish = () => {}
    const slow = durable("slow", async (_, svc) => {
      await svc.sleep("pause", "10m")
      return svc.step("long", () => {
        bodies++
        return new Promise<string>((resolve) => (finish = () => resolve("done")))
      })
    })
    const nap = durable("nap", (_, svc) => svc.sleep("pause", "11m"))
    const faults = Layer.effect(
      JournalStore,
      JournalStore.useSync((store) => ({
        ...store,
        claim: (request) =>
          Effect.suspend(() => {
            if (!isLost) return store.claim(request)
            lost++
            return unanswered
          })
      }))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "slow")
      yield* publish(env, "nap")
      yield* settle
      yield* pass("10 minutes")
      assert.strictEqual(bodies, 1)
      isLost = true
      yield* pass("1 minute")
      isLost = false
      assert.isAbove(lost, 0)
      for (let minute = 0; minute < 5; minute++) yield* pass("1 minute")
      assert.deepInclude(yield* runOf(env, event_id), { status: "running", waiting: null, activations: 2 })
      finish()
      yield* settle
      assert.deepInclude(yield* runOf(env, event_id), { status: "succeeded", result: "done", activations: 2 })
      assert.strictEqual(bodies, 1)
    }).pipe(Effect.provide(faulty({ slow, nap }, faults)))
  })

  it.effect("does not begin once its node has claimed the run again", () => {
    let loads = 0
    const bodies: Array<number> = []
    const slow = durable("slow", async (_, svc) => {
      await svc.sleep("pause", "10m")
      await svc.step("once", () => void bodies.push(loads))
      await svc.sleep("pause", "10m")
    })
    const faults = faultyLoad((read) =>
      Effect.suspend(() => Effect.tap(read, Effect.sleep(++loads === 1 ? "5 minutes" : 0)))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "slow")
      yield* settle
      yield* pass("10 minutes")
      const later = Timestamp.make((yield* currentTime) + 240_000)
      assert.strictEqual((yield* JournalStore.use((store) => store.reap(otherNode, later, 10))).length, 1)
      for (let minute = 0; minute < 16; minute++) yield* pass("1 minute")
      yield* settle
      assert.deepInclude(yield* runOf(env, event_id), { status: "succeeded", steps: 3 })
      assert.deepStrictEqual(bodies, [2])
    }).pipe(Effect.provide(faulty({ slow }, faults)))
  })

  it.effect("keeps its log although its history cannot be read for a while", () => {
    let loads = 0
    const talking = withLog("talking", async (_, svc) => {
      await svc.step("first", () => svc.log.info("before"))
      await svc.sleep("pause", "10m")
      await svc.step("second", () => svc.log.info("after"))
    })
    const faults = faultyLoad((read) => Effect.suspend(() => (loads++ < 5 ? unanswered : read)))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "talking")
      yield* settle
      for (let minute = 0; minute < 12; minute++) yield* pass("1 minute")
      assert.isAbove(loads, 5)
      assert.deepStrictEqual(yield* logOf(env, event_id), [
        ["info", "before"],
        ["info", "after"]
      ])
    }).pipe(Effect.provide(faulty({ talking }, faults)))
  })

  it.effect("keeps the number of a version whose record was lost with its node, unlike other results", () => {
    const seen: Array<number> = []
    let isLost = true
    const changed = durable("changed", async (_, svc) => {
      const decide = async () => {
        await svc.step("a", () => 1)
        seen.push(await svc.version("form", 2))
        await svc.sleep("pause", "1h")
      }
      await Promise.all([decide(), svc.step("b", () => 1)])
    })
    const faults = Layer.effect(
      JournalStore,
      JournalStore.useSync((store) => ({
        ...store,
        commit: (entries, lease) => {
          const hasVersion = entries.some(
            (entry) => entry._tag === "Advanced" && entry.steps.some(({ kind }) => kind === "version")
          )
          return Effect.suspend(() => (hasVersion && isLost ? unanswered : store.commit(entries, lease)))
        }
      }))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "changed")
      yield* settle
      assert.deepStrictEqual(seen, [2])
      const later = Timestamp.make((yield* currentTime) + 240_000)
      assert.strictEqual((yield* JournalStore.use((store) => store.reap(otherNode, later, 10))).length, 1)
      isLost = false
      for (let minute = 0; minute < 70; minute++) yield* pass("1 minute")
      assert.deepInclude(yield* runOf(env, event_id), { status: "succeeded", steps: 4 })
      assert.deepStrictEqual(seen, [2, 2, 2])
    }).pipe(Effect.provide(faulty({ changed }, faults)))
  })
})
