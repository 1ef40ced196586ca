/** Turns: in order, a few at a time, and none forgotten. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Turns } from "../../src/streams/Turns.ts"

/** Marks each turn that is taken. */
const world = Effect.gen(function* () {
  const turns = yield* Turns.make
  const taken: Array<number> = []
  const wait = (from: number, to: number): void => {
    for (let n = from; n < to; n++) turns.wait(() => taken.push(n))
  }
  return { turns, taken, wait }
})

const numbers = (end: number) => Array.from({ length: end }, (_, n) => n)

/** Lets time pass until the condition holds. */
const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* TestClock.adjust(1)
  })

/** Everything that can go on without the clock. */
const settle = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))

describe("turns", () => {
  it.effect("are taken in order, with everything else in between", () =>
    Effect.gen(function* () {
      const { taken, wait } = yield* world
      wait(0, 1000)
      assert.deepStrictEqual(taken, [])
      const seen: Array<number> = []
      while (taken.length < 1000) {
        yield* TestClock.adjust(1)
        seen.push(taken.length)
      }
      assert.isAbove(new Set(seen).size, 10)
      assert.deepStrictEqual(taken, numbers(1000))
    })
  )

  it.effect("leave time for others when there are many", () =>
    Effect.gen(function* () {
      const { taken, wait } = yield* world
      wait(0, 1000)
      yield* settle
      assert.isBelow(taken.length, 500)
      yield* until(() => taken.length === 1000)
    })
  )

  it.effect("may be asked for by who has one", () =>
    Effect.gen(function* () {
      const { turns, taken, wait } = yield* world
      turns.wait(() => {
        taken.push(0)
        turns.wait(() => taken.push(3))
      })
      wait(1, 3)
      yield* settle
      assert.deepStrictEqual(taken, numbers(4))
      wait(4, 5)
      yield* settle
      assert.deepStrictEqual(taken, numbers(5))
    })
  )

  it.effect("come round when all had theirs that waited, whoever came since", () =>
    Effect.gen(function* () {
      const { turns, taken, wait } = yield* world
      wait(0, 300)
      const rounds: Array<number> = []
      const round = Effect.map(turns.round, () => rounds.push(taken.length))
      yield* Effect.forkChild(round, { startImmediately: true })
      wait(300, 600)
      yield* until(() => taken.length === 600)
      assert.isAtLeast(rounds[0] ?? 0, 300)
      assert.isBelow(rounds[0] ?? 600, 600)
      // And at once where nobody waits.
      yield* Effect.forkChild(round)
      yield* until(() => rounds.length === 2)
    })
  )
})
