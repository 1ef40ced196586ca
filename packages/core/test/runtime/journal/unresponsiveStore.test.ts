/** Waiting times of writes while the store does not answer. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, masterKeys, publish, settle } from "../../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })

/** Returns in-memory stores whose commits fail after 20 s while `isSilent` is true. */
const makeStores = (isSilent: () => boolean) =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      const failure = Effect.andThen(
        Effect.sleep("20 seconds"),
        Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("No answer in time") }))
      )
      return Context.add(stores, JournalStore, {
        ...journal,
        commit: (...args) => (isSilent() ? failure : journal.commit(...args))
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))

describe("an unresponsive store", () => {
  it.effect("fails queued writes together with the first one", () => {
    let isSilent = false
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      isSilent = true
      const first = yield* Effect.forkChild(Effect.flip(publish(env, "job")))
      yield* settle
      yield* TestClock.adjust("10 seconds")
      const queued = yield* Effect.forkChild(Effect.flip(publish(env, "job")))
      yield* settle
      assert.isUndefined(queued.pollUnsafe())
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* Fiber.join(first))._tag, "StoreUnavailable")
      assert.strictEqual((yield* Fiber.join(queued))._tag, "StoreUnavailable")

      isSilent = false
      yield* publish(env, "job")
      yield* settle
      assert.deepStrictEqual(
        (yield* allRuns(env)).map((run) => run.status),
        ["succeeded"]
      )
    }).pipe(
      Effect.provide(
        layer({ masterKeys }).pipe(
          Layer.provideMerge(makeStores(() => isSilent)),
          Layer.provide(trustedSandbox({ app: { main: { job } } }))
        )
      )
    )
  })
})
