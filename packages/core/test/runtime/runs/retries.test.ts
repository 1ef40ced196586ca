/** Errors that decide about further attempts at a run, and the spread of retries, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, publish, runsOf, settle, world } from "../../world.ts"

interface Svc {
  readonly run: { readonly attempt: number }
}

/** A function that handles the event of its name and fails with an error of these fields. */
const failing = (event: string, fieldsOf: (attempt: number) => object): TrustedFunction =>
  Object.assign(
    (_: unknown, svc: Svc) => {
      throw Object.assign(new Error(`attempt ${svc.run.attempt}`), fieldsOf(svc.run.attempt))
    },
    { meta: { event, retry: { attempts: 3, delay: "1s", backoff: 1, jitter: false } } }
  )

const modules = {
  shop: {
    main: {
      flag: failing("flag", () => ({ nonRetryable: true })),
      named: failing("named", () => ({ name: "NonRetryable" })),
      second: failing("second", (attempt) => ({ nonRetryable: attempt === 2 })),
      later: failing("later", (attempt) => ({ retryAfter: [3_600_000, "2h", 0][attempt - 1] })),
      dated: failing("dated", (attempt) => ({ retryAfter: new Date(attempt === 1 ? 86_400_000 : 0) })),
      vague: failing("vague", () => ({ retryAfter: "soon" })),
      jittery: Object.assign(
        () => {
          throw new Error("no")
        },
        { meta: { event: "jittery", retry: { attempts: 2, delay: "100s" } } }
      )
    }
  }
}

/** Publishes an event, and returns the number of its runs after each time in `seconds`. */
const countRuns = Effect.fnUntraced(function* (type: string, seconds: ReadonlyArray<number>) {
  const env = yield* deployed("shop")
  const { event_id } = yield* publish(env, type)
  yield* settle
  const counts: Array<number> = []
  let passed = 0
  for (const at of seconds) {
    yield* TestClock.adjust((at - passed) * 1000)
    yield* settle
    passed = at
    counts.push((yield* runsOf(env, event_id)).length)
  }
  return { counts, runs: yield* runsOf(env, event_id) }
})

describe("a failed run", () => {
  for (const type of ["flag", "named"]) {
    it.effect(`is not retried after an error that is not retryable: ${type}`, () =>
      Effect.gen(function* () {
        const { counts, runs } = yield* countRuns(type, [3600])
        assert.deepStrictEqual(counts, [1])
        assert.deepInclude(JSON.parse(runs[0]?.result ?? "{}").error, { message: "attempt 1", nonRetryable: true })
      }).pipe(Effect.provide(world(modules)))
    )
  }

  it.effect("is retried until an attempt fails with an error that is not retryable", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* countRuns("second", [2, 3600])).counts, [2, 2])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("is retried after the retryAfter of its error, within the attempts of its policy", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* countRuns("later", [3599, 3601, 10_799, 10_802, 90_000])).counts, [1, 2, 2, 3, 3])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("is retried at the date of its error, or at once if the date has passed", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* countRuns("dated", [86_399, 86_400])).counts, [1, 3])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("is retried by its policy if retryAfter is not a time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* countRuns("vague", [1.5, 3])).counts, [2, 3])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("is retried after a random part of the delay", () => {
    const retried = Effect.gen(function* () {
      const env = yield* deployed("shop")
      for (let n = 0; n < 30; n++) yield* publish(env, "jittery")
      yield* settle
      const counts: Array<number> = []
      for (let step = 0; step < 4; step++) {
        yield* TestClock.adjust("25 seconds")
        yield* settle
        counts.push((yield* allRuns(env)).filter(({ attempt }) => attempt === 2).length)
      }
      return counts
    }).pipe(Effect.provide(world(modules)), Random.withSeed("spread"))
    return Effect.gen(function* () {
      const counts = yield* retried
      assert.deepStrictEqual(
        counts.map((count, index) => count > (counts[index - 1] ?? 0)),
        [true, true, true, true]
      )
      assert.strictEqual(counts.at(-1), 30)
    })
  })
})
