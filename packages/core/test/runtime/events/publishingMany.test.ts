/** Publication of many events in one call. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, layer, type NewEvent, StoreUnavailable } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { asHost, deployed, masterKeys, runsOf, settle, world } from "../../world.ts"

const handler = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, { meta })

const modules = {
  shop: {
    main: {
      job: handler({ event: "job" }, (event: { event_data: unknown }) => event.event_data),
      charge: handler({ event: "paid", idempotency: "order" }, () => "charged"),
      called: () => "called"
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      yield* Effect.provide(Effect.flatMap(deployed("shop"), body), world(modules))
    })
  )

const publishMany = (env: Env, events: ReadonlyArray<NewEvent>) =>
  asHost(
    env,
    Events.use((service) => service.publishMany(events))
  )

const stored = (env: Env) =>
  Effect.map(
    asHost(
      env,
      Events.use((events) => events.list({ limit: 1, offset: 0 }))
    ),
    (page) => page.total
  )

const resultsOf = (env: Env, eventId: string) =>
  Effect.map(runsOf(env, eventId), (runs) => runs.map((run) => String(run.result)))

const jobs = (count: number): ReadonlyArray<NewEvent> =>
  Array.from({ length: count }, (_, n) => ({ type: "job", data: n }))

describe("publishMany", () => {
  check("stores and handles events in order, even more than there are slots", (env) =>
    Effect.gen(function* () {
      const events = yield* publishMany(env, jobs(1_000))
      assert.deepStrictEqual(
        events.map(({ event_data }) => String(event_data)),
        Array.from({ length: 1_000 }, (_, n) => String(n))
      )
      const ids = events.map(({ event_id }) => event_id)
      assert.deepStrictEqual(ids, [...new Set(ids)].sort())
      assert.strictEqual(yield* stored(env), 1_000)
      yield* settle
      for (const n of [0, 511, 512, 999]) assert.deepStrictEqual(yield* resultsOf(env, ids[n] ?? ""), [String(n)])
      const more = yield* Effect.all([publishMany(env, jobs(1_000)), publishMany(env, jobs(1_000))], {
        concurrency: "unbounded"
      })
      yield* settle
      for (const events of more) {
        for (const n of [0, 511, 512, 999]) {
          assert.deepStrictEqual(yield* resultsOf(env, events[n]?.event_id ?? ""), [String(n)])
        }
      }
    })
  )

  check("accepts all kinds of events: delayed, idempotent, calls, of a stream", (env) =>
    Effect.gen(function* () {
      const [first] = yield* publishMany(env, [{ type: "job", data: 0 }])
      const streamId = first?.stream_id ?? ""
      const events = yield* publishMany(env, [
        { type: "job", data: 1, delay: "1h" },
        { type: "paid", data: { order: 1 } },
        { type: "paid", data: { order: 1 } },
        { type: "svc:call", data: { fn: "main/called" } },
        { type: "job", data: 2, stream_id: streamId },
        { type: "job", data: 3, idempotencyKey: "third" }
      ])
      const [again] = yield* publishMany(env, [{ type: "job", data: 3, idempotencyKey: "third" }])
      assert.strictEqual(again?.event_id, events[5]?.event_id)
      assert.strictEqual(events[4]?.stream_id, streamId)
      yield* settle
      const results = yield* Effect.forEach(events, ({ event_id }) => resultsOf(env, event_id))
      const paid = [...(results[1] ?? []), ...(results[2] ?? [])]
      assert.deepStrictEqual(paid, ['"charged"'])
      assert.deepStrictEqual([results[0], ...results.slice(3)], [[], ['"called"'], ["2"], ["3"]])
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.deepStrictEqual(yield* resultsOf(env, events[0]?.event_id ?? ""), ["1"])
    })
  )

  check("rejects all events if one is invalid, and names it", (env) =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [NewEvent, string]> = [
        [{ type: "", data: 1 }, "events[2]: event_type must have 1 to 256 characters"],
        [{ type: "job", data: 1, stream_id: "mine" }, "events[2]: stream_id must be a UUID"],
        [{ type: "job", data: 1, delay: "366d" }, "events[2]: delay must be at most 365 days"],
        [{ type: "svc:unheard", data: 1 }, "events[2]: event_type: the prefix svc: is reserved for system events"]
      ]
      for (const [event, reason] of wrong) {
        const error = yield* Effect.flip(publishMany(env, [...jobs(2), event]))
        assert.strictEqual(error.message, reason)
      }
      const error = yield* Effect.flip(publishMany(env, jobs(1_001)))
      assert.strictEqual(error.message, "events: at most 1000 at once")
      assert.strictEqual(yield* stored(env), 0)
      assert.deepStrictEqual(yield* publishMany(env, []), [])
    })
  )

  it.effect("fails for all events if the store fails, and releases their slots", () => {
    const store = { isUnavailable: false }
    const stores = Layer.effectContext(
      Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (memory) => {
        const journal = Context.get(memory, JournalStore)
        const unavailable = Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("unavailable") }))
        return Context.add(memory, JournalStore, {
          ...journal,
          commit: (entries, lease) => (store.isUnavailable ? unavailable : journal.commit(entries, lease))
        })
      })
    ).pipe(Layer.provide(MemoryStores.layer))
    const unreliable = layer({ masterKeys, deliveries: { total: 20, perEnv: 10 } }).pipe(
      Layer.provideMerge(stores),
      Layer.provide(trustedSandbox(modules))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      store.isUnavailable = true
      const error = yield* Effect.flip(publishMany(env, jobs(15)))
      assert.strictEqual(error._tag, "StoreUnavailable")
      store.isUnavailable = false
      assert.strictEqual(yield* stored(env), 0)
      const events = yield* publishMany(env, jobs(10))
      // All ten are stored as claimed, which requires free slots.
      const runs = yield* Effect.forEach(events, ({ event_id }) => runsOf(env, event_id))
      assert.deepStrictEqual(
        runs.map((of) => of.length),
        events.map(() => 1)
      )
      yield* settle
      const results = yield* Effect.forEach(events, ({ event_id }) => resultsOf(env, event_id))
      assert.deepStrictEqual(
        results.flat(),
        Array.from({ length: 10 }, (_, n) => String(n))
      )
    }).pipe(Effect.provide(unreliable))
  })
})
