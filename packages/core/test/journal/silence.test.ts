/** A store that is silent for long: how long those wait who write meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { JournalStore, layer, MemoryStores, StoreUnavailable, type TrustedFunction, trustedSandbox } from "@weft/core"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, masterKeys, publish, settle } from "../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })

/** Stores in memory whose commits, while `isSilent`, fail after 20 s. */
const storesOf = (isSilent: () => boolean) =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      const silence = Effect.andThen(
        Effect.sleep("20 seconds"),
        Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("No answer in time") }))
      )
      return Context.add(stores, JournalStore, {
        ...journal,
        commit: (...args) => (isSilent() ? silence : journal.commit(...args))
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))

describe("a store that is silent", () => {
  it.effect("lets nobody wait for longer than who asked it first", () => {
    let isSilent = false
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      isSilent = true
      const first = yield* Effect.forkChild(Effect.flip(publish(env, "job")))
      yield* settle
      yield* TestClock.adjust("10 seconds")
      const behind = yield* Effect.forkChild(Effect.flip(publish(env, "job")))
      yield* settle
      assert.isUndefined(behind.pollUnsafe())
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* Fiber.join(first))._tag, "StoreUnavailable")
      assert.strictEqual((yield* Fiber.join(behind))._tag, "StoreUnavailable")

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
          Layer.provideMerge(storesOf(() => isSilent)),
          Layer.provide(trustedSandbox({ app: { main: { job } } }))
        )
      )
    )
  })
})
