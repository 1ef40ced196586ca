/** The notify queue runs callbacks in order, a few at a time, and loses none. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { Turns } from "../../../src/platform/turns/Turns.ts"
import { defaultTurnLimits, WorkScheduler } from "../../../src/platform/turns/WorkScheduler.ts"
import { NotifyQueue } from "../../../src/runtime/streams/NotifyQueue.ts"
import { VirtualLoop } from "../../platform/turns/VirtualLoop.ts"

const env = (number: number) => EnvId.make(`01890000-0000-7000-8000-00000000000${number}`)

/** Returns a queue whose callbacks record their numbers. */
const world = Effect.gen(function* () {
  const all = yield* NotifyQueue.make
  const queue = all.of(env(1))
  const called: Array<number> = []
  const enqueue = (from: number, to: number): void => {
    for (let n = from; n < to; n++) queue.enqueue(() => called.push(n))
  }
  return { all, queue, called, enqueue }
})

const numbers = (end: number) => Array.from({ length: end }, (_, n) => n)

/** Advances the clock until the condition is true. */
const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* TestClock.adjust(1)
  })

/** Runs everything that does not wait for the clock. */
const settle = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))

describe("NotifyQueue", () => {
  it.effect("runs callbacks in order, with other work in between", () =>
    Effect.gen(function* () {
      const { called, enqueue } = yield* world
      enqueue(0, 1000)
      assert.deepStrictEqual(called, [])
      const seen: Array<number> = []
      while (called.length < 1000) {
        yield* TestClock.adjust(1)
        seen.push(called.length)
      }
      assert.isAbove(new Set(seen).size, 10)
      assert.deepStrictEqual(called, numbers(1000))
    })
  )

  it.effect("pauses between many callbacks", () =>
    Effect.gen(function* () {
      const { called, enqueue } = yield* world
      enqueue(0, 1000)
      yield* settle
      assert.isBelow(called.length, 500)
      yield* until(() => called.length === 1000)
    })
  )

  it.effect("accepts callbacks from a callback", () =>
    Effect.gen(function* () {
      const { queue, called, enqueue } = yield* world
      queue.enqueue(() => {
        called.push(0)
        queue.enqueue(() => called.push(3))
      })
      enqueue(1, 3)
      yield* settle
      assert.deepStrictEqual(called, numbers(4))
      enqueue(4, 5)
      yield* settle
      assert.deepStrictEqual(called, numbers(5))
    })
  )

  it.effect("is drained once all callbacks that were queued have run, without later ones", () =>
    Effect.gen(function* () {
      const { all, called, enqueue } = yield* world
      enqueue(0, 300)
      const drains: Array<number> = []
      const drained = Effect.map(all.drained, () => drains.push(called.length))
      yield* Effect.forkChild(drained, { startImmediately: true })
      enqueue(300, 600)
      yield* until(() => called.length === 600)
      assert.isAtLeast(drains[0] ?? 0, 300)
      assert.isBelow(drains[0] ?? 600, 600)
      // Resolves at once if no callback is queued.
      yield* Effect.forkChild(drained)
      yield* until(() => drains.length === 2)
    })
  )

  it.effect("runs callbacks in turns of their environments, and is drained after the last turn", () => {
    const loop = new VirtualLoop()
    const turns = new WorkScheduler(loop, defaultTurnLimits)
    return Effect.gen(function* () {
      const { all, called, enqueue } = yield* world
      turns.run("busy", "request", () => loop.spend(defaultTurnLimits.turnBudgetMs))
      enqueue(0, 40)
      let isDrained = false
      yield* Effect.forkChild(
        Effect.andThen(
          all.drained,
          Effect.sync(() => (isDrained = true))
        )
      )
      yield* settle
      assert.deepStrictEqual([called.length, isDrained], [0, false])
      loop.turn()
      yield* settle
      assert.deepStrictEqual(called, numbers(40))
      assert.isTrue(isDrained)
    }).pipe(Effect.provideService(Turns, turns))
  })
})
