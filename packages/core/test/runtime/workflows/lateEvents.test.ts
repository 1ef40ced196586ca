/** Events that reach waits late: after the timeout, and after a failure of the comparison, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer } from "@weft/core"
import { WorkflowStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Effect, Latch, Layer } from "effect"
import { deployed, immediateTurns, masterKeys, publish } from "../../world.ts"
import { durable, pass, runOf, settleAll } from "./DurableWorld.ts"

type Store = WorkflowStore["Service"]

/** A complete Weft in memory whose store of durable runs has other methods. */
const withStore = (functions: TrustedModule[string], change: (store: Store) => Partial<Store>) =>
  layer({ masterKeys }).pipe(
    Layer.provideMerge(
      Layer.provideMerge(
        Layer.effect(
          WorkflowStore,
          WorkflowStore.useSync((store) => ({ ...store, ...change(store) }))
        ),
        MemoryStores.layer
      )
    ),
    Layer.provide([trustedSandbox({ shop: { main: functions } }), immediateTurns])
  )

const waitingOf = (env: Parameters<typeof runOf>[0], eventId: string) =>
  Effect.map(runOf(env, eventId), ({ waiting }) => waiting)

describe("a durable run", () => {
  it.effect("is suspended again if its event arrives while its timeout is being examined", () => {
    const arrivals = Latch.makeUnsafe(false)
    const comparisons = Latch.makeUnsafe(true)
    const fn = durable("go", async (_, svc) => {
      const answer = await svc.waitForEvent("approval", { event: "approved", timeout: "1h" })
      await svc.sleep("pause", "1d")
      return answer === null ? "late" : "in time"
    })
    const stores = withStore({ fn }, (store) => ({
      arrive: (...args) => Effect.andThen(arrivals.await, store.arrive(...args)),
      eventsSince: (...args) => Effect.andThen(comparisons.await, store.eventsSince(...args))
    }))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("3599 seconds")
      assert.deepInclude(yield* waitingOf(env, event_id), { for: "event", name: "approval" })
      yield* comparisons.close
      yield* publish(env, "approved")
      yield* pass("2 seconds")
      yield* settleAll
      assert.isNull(yield* waitingOf(env, event_id))
      yield* arrivals.open
      yield* settleAll
      assert.isNull(yield* waitingOf(env, event_id))
      yield* comparisons.open
      yield* settleAll
      assert.deepInclude(yield* waitingOf(env, event_id), { for: "timer", name: "pause" })
      yield* pass("25 hours")
      assert.strictEqual((yield* runOf(env, event_id)).result, "in time")
    }).pipe(Effect.provide(stores))
  })

  it.effect("compares only the events that match with its wait when the timeout has ended", () => {
    let arrived = 0
    const fn = durable("go", async (_, svc) => {
      const answer = await svc.waitForEvent("approval", { event: "approved", match: { id: "7" }, timeout: "3605s" })
      return answer === null ? "late" : "in time"
    })
    const stores = withStore({ fn }, (store) => ({
      arrive: (...args) => {
        arrived++
        return store.arrive(...args)
      }
    }))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      // After a poll, which compares all events.
      yield* pass("3603 seconds")
      for (let id = 0; id < 5; id++) yield* publish(env, "approved", { id: `${id}` })
      yield* settleAll
      const before = arrived
      yield* pass("3 seconds")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).result, "late")
      assert.strictEqual(arrived, before)
    }).pipe(Effect.provide(stores))
  })

  it.effect("receives its event although another one of the same batch cannot be given to any wait", () => {
    const fn = durable("go", async (_, svc) => {
      await svc.waitForEvent("approval", { event: "approved", match: { id: "good" } })
      return "approved"
    })
    const sizes: Array<number> = []
    const stores = withStore({ fn }, (store) => ({
      arrive: (events, at) => {
        sizes.push(events.length)
        const isBad = events.some(({ event_data }) => event_data.includes("bad"))
        return isBad ? Effect.die("unreadable") : store.arrive(events, at)
      },
      eventsSince: () => Effect.succeed({ events: [], next: null })
    }))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* Effect.all(
        ["first", "bad", "good"].map((id) => publish(env, "approved", { id })),
        { concurrency: "unbounded" }
      )
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).result, "approved")
      assert.deepStrictEqual(sizes, [3, 1, 1, 1])
    }).pipe(Effect.provide(stores))
  })

  it.effect("receives its event although an earlier comparison of its environment failed", () => {
    let compared = 0
    const fn = durable("go", async (_, svc) => {
      await svc.waitForEvent("first", { event: "first" })
      await svc.waitForEvent("approval", { event: "approved", since: "start" })
      return "approved"
    })
    const stores = withStore({ fn }, (store) => ({
      eventsSince: (...args) => (compared++ === 0 ? Effect.die("unreadable") : store.eventsSince(...args))
    }))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      assert.isAtLeast(compared, 1)
      yield* publish(env, "approved")
      yield* publish(env, "first")
      yield* settleAll
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).result, "approved")
    }).pipe(Effect.provide(stores))
  })
})
