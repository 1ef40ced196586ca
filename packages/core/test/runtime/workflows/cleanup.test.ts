/** Cancellations with cleanup, and sagas, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { now as currentTime, RunControlStore, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { deployed, publish, settle } from "../../world.ts"
import { begin, cancel, type DurableSvc, durable, errorOf, logOf, main, pass, runOf } from "./DurableFunction.ts"

describe("a cancellation with cleanup", () => {
  it.effect("rejects the pending request, and runs cleanup and undo functions as steps", () => {
    const done: Array<string> = []
    const order = durable("order", async (_, svc) => {
      const saga = svc.saga()
      await saga.step(
        "charge",
        () => ({ receipt: "r1" }),
        ({ receipt }) => done.push(`refund ${receipt}`)
      )
      await svc.step("reserve", () => "p1", { compensate: (place) => done.push(`release ${place}`) })
      try {
        await svc.sleep("long", "30d")
      } catch (error) {
        done.push(String(error))
        throw error
      } finally {
        await svc.step("notify", () => void done.push("notify"))
      }
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "order")
      yield* pass("2 days")
      assert.strictEqual((yield* cancel(env, id, true)).status, "running")
      yield* settle
      assert.deepStrictEqual(done, ["Cancelled: The run was cancelled", "notify", "release p1", "refund r1"])
      assert.deepStrictEqual(yield* errorOf(env, id), {
        status: "cancelled",
        name: "Cancelled",
        message: "The run was cancelled"
      })
    }).pipe(Effect.provide(main({ order })))
  })

  it.effect("continues its cleanup after a suspension, and the function is cancelled at the same position", () => {
    const done: Array<string> = []
    const order = durable("order", async (_, svc) => {
      const first = svc.step("first", () => 1)
      await svc.step("charge", () => "r1", {
        compensate: async (receipt) => {
          done.push(`refund ${receipt}`)
          if (done.length < 3) throw new RangeError("busy")
        },
        retry: { attempts: 5, delay: "5s", backoff: 1, jitter: false }
      })
      await first
      const wait = svc.waitForEvent("paid", { event: "paid" })
      await Promise.all([wait, svc.sleep("long", "30d")])
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "order")
      yield* cancel(env, id, "1m")
      assert.deepInclude(JSON.parse((yield* runOf(env, id)).waiting ?? "{}"), { for: "retry", name: "undo charge" })
      yield* publish(env, "paid")
      yield* settle
      assert.deepStrictEqual(done, ["refund r1"])
      yield* pass("5 seconds")
      assert.deepStrictEqual(done, ["refund r1", "refund r1"])
      yield* pass("5 seconds")
      assert.deepStrictEqual(done, ["refund r1", "refund r1", "refund r1"])
      assert.strictEqual((yield* runOf(env, id)).status, "cancelled")
    }).pipe(Effect.provide(main({ order })))
  })

  it.effect("aborts the body of a step that runs, and does not repeat it", () => {
    const done: Array<string> = []
    const order = durable("order", async (_, svc) => {
      await svc
        .step("slow", ({ signal }) => {
          done.push("begin")
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              done.push("abort")
              reject(new Error("aborted"))
            })
          })
        })
        .catch((error) => done.push(error.name))
      await svc.sleep("pause", "10s")
      await svc.step("after", () => void done.push("after"))
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "order")
      yield* cancel(env, id, "1m")
      assert.deepStrictEqual(done, ["begin", "abort", "Cancelled"])
      yield* pass("10 seconds")
      assert.deepStrictEqual(done, ["begin", "abort", "Cancelled", "Cancelled", "after"])
      assert.strictEqual((yield* runOf(env, id)).status, "cancelled")
    }).pipe(Effect.provide(main({ order })))
  })

  it.effect("ends as cancelled after its time, while it is active and while it sleeps", () => {
    const hanging = durable("hang", async (_, svc) => {
      await svc.sleep("long", "1d").catch(() => undefined)
      await svc.step("hang", () => new Promise(() => undefined))
    })
    const sleeping = durable("sleep", async (_, svc) => {
      await svc.sleep("long", "1d").catch(() => undefined)
      await svc.sleep("longer", "2d")
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const ids = [yield* begin(env, "hang"), yield* begin(env, "sleep")]
      for (const id of ids) yield* cancel(env, id, "20s")
      for (const id of ids) assert.strictEqual((yield* runOf(env, id)).status, "running")
      yield* pass("20 seconds")
      for (const id of ids) {
        const { status, message } = yield* errorOf(env, id)
        assert.strictEqual(status, "cancelled")
        assert.include(message, "its cleanup did not end in time")
      }
    }).pipe(Effect.provide(main({ hanging, sleeping })))
  })

  it.effect("ends at once after a second cancellation without cleanup", () => {
    const hanging = durable("hang", async (_, svc) => {
      await svc.sleep("long", "1d").catch(() => undefined)
      await svc.sleep("longer", "2d")
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "hang")
      yield* cancel(env, id, "1m")
      assert.strictEqual((yield* cancel(env, id)).status, "cancelled")
      assert.strictEqual((yield* runOf(env, id)).status, "cancelled")
    }).pipe(Effect.provide(main({ hanging })))
  })

  it.effect("undoes the steps of a function that ended before it received its cancellation", () => {
    const done: Array<string> = []
    let finish = () => {}
    const order = durable("order", async (_, svc) => {
      await svc.step("charge", () => "r1", { compensate: (receipt) => void done.push(`refund ${receipt}`) })
      await svc.step("last", () => new Promise<void>((resolve) => (finish = resolve)))
      done.push("return")
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "order")
      const store = yield* RunControlStore
      const now = yield* currentTime
      yield* store.requestCleanup(yield* runOf(env, id), Timestamp.make(now + 20_000), now)
      finish()
      yield* settle
      yield* settle
      yield* pass("2 seconds")
      assert.deepStrictEqual(done, ["return", "return", "refund r1"])
      assert.strictEqual((yield* runOf(env, id)).status, "cancelled")
    }).pipe(Effect.provide(main({ order })))
  })

  it.effect("is refused for other runs and other durations", () => {
    const sleeper = durable("sleep", (_, svc) => svc.sleep("long", "1d"))
    const plain = Object.assign(() => new Promise(() => undefined), { meta: { event: "plain" } })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "sleep")
      for (const cleanup of ["6m", "soon", "0s"]) {
        const error = yield* Effect.flip(cancel(env, id, cleanup))
        assert.include(error.message, `cleanup must be true or a duration from 1 ms to 5 minutes`)
      }
      const plainId = yield* begin(env, "plain")
      const other = yield* Effect.flip(cancel(env, plainId, true))
      assert.include(other.message, "The run is not durable and cannot clean up")
      yield* cancel(env, plainId)
    }).pipe(Effect.provide(main({ sleeper, plain })))
  })
})

describe("a saga", () => {
  const booked = (svc: DurableSvc, done: Array<string>) => {
    const saga = svc.saga()
    const book = (name: string) =>
      saga.step(
        name,
        () => name.toUpperCase(),
        (result) => {
          done.push(`undo ${result}`)
          if (name === "b") throw new RangeError("too late")
        }
      )
    return { book }
  }

  it.effect("undoes its completed steps in reverse order, and names the undo that failed", () => {
    const done: Array<string> = []
    const trip = durable("trip", async (_, svc) => {
      const { book } = booked(svc, done)
      await svc.all(["a", "b", "c"], book, { concurrency: 1 })
      await svc.sleep("pause", "1h")
      throw new TypeError("no seat")
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "trip")
      yield* pass("1 hour")
      assert.deepStrictEqual(done, ["undo C", "undo B", "undo A"])
      const text = 'The undo of the step "b" failed with RangeError: too late'
      assert.deepStrictEqual(yield* errorOf(env, id), {
        status: "failed",
        name: "TypeError",
        message: `no seat. ${text}`
      })
      assert.deepStrictEqual(yield* logOf(env, id), [["error", text]])
    }).pipe(Effect.provide(main({ trip })))
  })

  it.effect("undoes nothing if the function succeeds", () => {
    const done: Array<string> = []
    const trip = durable("trip", async (_, svc) => {
      const { book } = booked(svc, done)
      return [await book("a"), await book("b")]
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "trip")
      assert.strictEqual((yield* runOf(env, id)).status, "succeeded")
      assert.deepStrictEqual(done, [])
    }).pipe(Effect.provide(main({ trip })))
  })
})
