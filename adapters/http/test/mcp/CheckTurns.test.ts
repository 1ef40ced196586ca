import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { CheckTurns } from "../../src/mcp/CheckTurns.ts"

const envId = (end: string) => EnvId.make(`01976a2b-0002-7000-8000-00000000000${end}`)
const [busy, other] = [envId("1"), envId("2")]

const good = Effect.succeed(null)
const lasting = (millis: number) => Effect.as(Effect.sleep(millis), null)
const later = "the arguments cannot be checked now: try again later"

describe("the turns of checks", () => {
  it.effect("go from environment to environment, however many checks one has", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      const order: Array<string> = []
      const noted = (name: string) => Effect.tap(lasting(100), () => Effect.sync(() => order.push(name)))
      for (let count = 0; count < 5; count++) yield* Effect.forkChild(turns.take(busy, noted("busy")))
      yield* Effect.forkChild(turns.take(other, noted("other")))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(order.length, 6)
      assert.strictEqual(order.indexOf("other"), 1)
    })
  )

  it.effect("are waited for for two seconds, and taken to their end when they have begun", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      const first = yield* Effect.forkChild(turns.take(busy, lasting(3000)))
      const second = yield* Effect.forkChild(turns.take(other, good))
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(second), later)
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* Fiber.join(first))
      assert.isNull(yield* turns.take(other, good))
    })
  )

  it.effect("are left by those who go away, also in the midst of their own", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      const first = yield* Effect.forkChild(turns.take(busy, lasting(1000)))
      const second = yield* Effect.forkChild(turns.take(busy, lasting(1000)))
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(second)
      first.interruptUnsafe()
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* turns.take(other, good))
    })
  )
})

describe("an environment whose checks take too long", () => {
  it.effect("has no turns after the second time, for five minutes; those that wait have none either", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      const tooLong = Effect.andThen(lasting(1000), Effect.as(turns.offend(busy), "too long"))
      const calls: Array<Fiber.Fiber<string | null>> = []
      for (let count = 0; count < 5; count++) calls.push(yield* Effect.forkChild(turns.take(busy, tooLong)))
      yield* TestClock.adjust("2 seconds")
      const answers = yield* Effect.all(calls.map((call) => Fiber.join(call)))
      assert.deepStrictEqual(answers.slice(0, 2), ["too long", "too long"])
      for (const answer of answers.slice(2)) assert.match(answer ?? "", /try again/)
      assert.match((yield* turns.take(busy, good)) ?? "", /try again in some minutes/)
      assert.isNull(yield* turns.take(other, good))
      yield* TestClock.adjust("5 minutes")
      assert.isNull(yield* turns.take(busy, good))
    })
  )

  it.effect("goes on after the first time, and after another one much later", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      for (let count = 0; count < 3; count++) {
        yield* turns.offend(busy)
        assert.isNull(yield* turns.take(busy, good))
        yield* TestClock.adjust("5 minutes")
      }
    })
  )

  it.effect("is forgotten when ten thousand others came after it", () =>
    Effect.gen(function* () {
      const turns = new CheckTurns()
      yield* turns.offend(busy)
      yield* turns.offend(busy)
      for (let count = 0; count < 10_000; count++) {
        const digits = String(count).padStart(12, "0")
        yield* turns.offend(EnvId.make(`01976a2b-0002-7000-9000-${digits}`))
      }
      assert.isNull(yield* turns.take(busy, good))
    })
  )
})
