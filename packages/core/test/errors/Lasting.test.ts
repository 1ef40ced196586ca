/** What a node does all its life goes on after whatever goes wrong. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../src/errors/Errors.ts"
import { forkLasting } from "../../src/errors/Lasting.ts"

const away = new StoreUnavailable({ operation: "look", cause: new Error("too many connections") })

/** What has been logged so far, a line each. */
const keptLog = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
  })
  return { lines, layer: Logger.layer([logger]) }
}

describe("what lasts", () => {
  const { lines, layer } = keptLog()
  it.effect("goes on after a store that did not answer and after a defect, and tells of both with their causes", () =>
    Effect.gen(function* () {
      let turns = 0
      const turn = Effect.suspend(() => {
        turns++
        if (turns === 2) return Effect.fail(away)
        if (turns === 4) return Effect.die(new Error("a mistake"))
        return Effect.sleep("10 seconds")
      })
      yield* forkLasting({ name: "The test" }, turn)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(turns, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(turns, 3)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(turns, 4)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(turns, 5)
      assert.deepStrictEqual(lines, [
        "Warn: The store did not answer look Error: too many connections",
        "Error: The test met a defect Error: a mistake"
      ])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("ends with its scope, and does what it is to do after a failure", () =>
    Effect.gen(function* () {
      let [turns, failures] = [0, 0]
      const afterFailure = Effect.andThen(
        Effect.sync(() => {
          failures++
        }),
        Effect.sleep("1 minute")
      )
      const turn = Effect.suspend(() => {
        turns++
        return Effect.fail(away)
      })
      yield* Effect.scoped(
        Effect.andThen(forkLasting({ name: "The test", afterFailure }, turn), TestClock.adjust("2 minutes"))
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([turns, failures], [3, 3])
    })
  )
})
