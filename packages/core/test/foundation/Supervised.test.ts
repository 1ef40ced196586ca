/** Tests that background loops survive failures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../src/foundation/Errors.ts"
import { forkSupervised } from "../../src/foundation/Supervised.ts"

const unavailable = new StoreUnavailable({ operation: "look", cause: new Error("too many connections") })

/** Records the log, one line per message. */
const recordLog = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
  })
  return { lines, layer: Logger.layer([logger]) }
}

describe("forkSupervised", () => {
  const { lines, layer } = recordLog()
  it.effect("continues after a store outage and after a defect, and logs both with their causes", () =>
    Effect.gen(function* () {
      let count = 0
      const iteration = Effect.suspend(() => {
        count++
        if (count === 2) return Effect.fail(unavailable)
        if (count === 4) return Effect.die(new Error("a mistake"))
        return Effect.sleep("10 seconds")
      })
      yield* forkSupervised({ name: "The test" }, iteration)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(count, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(count, 3)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(count, 4)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(count, 5)
      assert.deepStrictEqual(lines, [
        "Warn: The store did not answer look Error: too many connections",
        "Error: The test failed with a defect Error: a mistake"
      ])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("ends with its scope, and runs afterFailure after each failure", () =>
    Effect.gen(function* () {
      let [count, failures] = [0, 0]
      const afterFailure = Effect.andThen(
        Effect.sync(() => {
          failures++
        }),
        Effect.sleep("1 minute")
      )
      const iteration = Effect.suspend(() => {
        count++
        return Effect.fail(unavailable)
      })
      yield* Effect.scoped(
        Effect.andThen(forkSupervised({ name: "The test", afterFailure }, iteration), TestClock.adjust("2 minutes"))
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([count, failures], [3, 3])
    })
  )
})
