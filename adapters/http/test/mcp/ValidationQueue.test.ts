import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ValidationQueue } from "../../src/mcp/ValidationQueue.ts"

const envId = (end: string) => EnvId.make(`01976a2b-0002-7000-8000-00000000000${end}`)
const [busy, other] = [envId("1"), envId("2")]

const valid = Effect.succeed(null)
const takes = (millis: number) => Effect.as(Effect.sleep(millis), null)
const unavailable = "the arguments cannot be checked now: try again later"

describe("ValidationQueue", () => {
  it.effect("alternates between environments, regardless of their number of validations", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      const order: Array<string> = []
      const recorded = (name: string) => Effect.tap(takes(100), () => Effect.sync(() => order.push(name)))
      for (let count = 0; count < 5; count++) yield* Effect.forkChild(queue.run(busy, recorded("busy")))
      yield* Effect.forkChild(queue.run(other, recorded("other")))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(order.length, 6)
      assert.strictEqual(order.indexOf("other"), 1)
    })
  )

  it.effect("times out waiting validations after two seconds, and completes those that have started", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      const first = yield* Effect.forkChild(queue.run(busy, takes(3000)))
      const second = yield* Effect.forkChild(queue.run(other, valid))
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(second), unavailable)
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* Fiber.join(first))
      assert.isNull(yield* queue.run(other, valid))
    })
  )

  it.effect("removes interrupted callers, also during their validation", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      const first = yield* Effect.forkChild(queue.run(busy, takes(1000)))
      const second = yield* Effect.forkChild(queue.run(busy, takes(1000)))
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(second)
      first.interruptUnsafe()
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* queue.run(other, valid))
    })
  )
})

describe("an environment whose validations time out", () => {
  it.effect("is suspended for five minutes after the second timeout, including its waiting validations", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      const tooLong = Effect.andThen(takes(1000), Effect.as(queue.recordTimeout(busy), "too long"))
      const calls: Array<Fiber.Fiber<string | null>> = []
      for (let count = 0; count < 5; count++) calls.push(yield* Effect.forkChild(queue.run(busy, tooLong)))
      yield* TestClock.adjust("2 seconds")
      const answers = yield* Effect.all(calls.map((call) => Fiber.join(call)))
      assert.deepStrictEqual(answers.slice(0, 2), ["too long", "too long"])
      for (const answer of answers.slice(2)) assert.match(answer ?? "", /try again/)
      assert.match((yield* queue.run(busy, valid)) ?? "", /try again in 5 minutes/)
      assert.isNull(yield* queue.run(other, valid))
      yield* TestClock.adjust("5 minutes")
      assert.isNull(yield* queue.run(busy, valid))
    })
  )

  it.effect("is not suspended after one timeout, or after a second one much later", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      for (let count = 0; count < 3; count++) {
        yield* queue.recordTimeout(busy)
        assert.isNull(yield* queue.run(busy, valid))
        yield* TestClock.adjust("5 minutes")
      }
    })
  )

  it.effect("is forgotten after timeouts of ten thousand other environments", () =>
    Effect.gen(function* () {
      const queue = new ValidationQueue()
      yield* queue.recordTimeout(busy)
      yield* queue.recordTimeout(busy)
      for (let count = 0; count < 10_000; count++) {
        const digits = String(count).padStart(12, "0")
        yield* queue.recordTimeout(EnvId.make(`01976a2b-0002-7000-9000-${digits}`))
      }
      assert.isNull(yield* queue.run(busy, valid))
    })
  )
})
