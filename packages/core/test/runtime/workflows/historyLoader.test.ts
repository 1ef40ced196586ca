import { assert, it } from "@effect/vitest"
import { EnvId, StoreUnavailable } from "@weft/core"
import { emptyHistory, type LoadedRun, RunId } from "@weft/core/adapter"
import { Effect, Exit, Fiber, Latch } from "effect"
import { HistoryLoader } from "../../../src/runtime/workflows/HistoryLoader.ts"

const uuid = (n: number): string => `01977420-0000-7000-8000-${n.toString(16).padStart(12, "0")}`
const envId = (n: number): EnvId => EnvId.make(uuid(n))
const runId = (n: number): RunId => RunId.make(uuid(n))
const loadedRun: LoadedRun = { history: emptyHistory, logs: [], cleanup_until: null }

/** A loader on a store that knows runs with even numbers, and does not answer environment 9 before `opened`. */
const makeLoader = (opened = Latch.makeUnsafe(true), outages = 0) => {
  const batches: Array<readonly [EnvId, number]> = []
  let failures = 0
  const loader = new HistoryLoader({
    store: {
      loadSmall: (env, runs) =>
        Effect.andThen(
          env === envId(9) ? opened.await : Effect.void,
          Effect.suspend(() => {
            batches.push([env, runs.length])
            if (failures++ < outages)
              return Effect.fail(new StoreUnavailable({ operation: "loadSmall", cause: "down" }))
            return Effect.succeed(new Map(runs.filter(isEven).map((run) => [run, loadedRun])))
          })
        )
    },
    turn: () => Effect.void
  })
  return { batches, small: (env: number, run: number) => loader.small({ env_id: envId(env), run_id: runId(run) }) }
}

const isEven = (run: RunId): boolean => Number.parseInt(run.slice(-1), 16) % 2 === 0

const all = <A, E>(reads: ReadonlyArray<Effect.Effect<A, E>>) => Effect.all(reads, { concurrency: "unbounded" })

it.effect("runs that are wanted together are read together, and each answer is that of its run", () =>
  Effect.gen(function* () {
    const { batches, small } = makeLoader()
    const runs = Array.from({ length: 100 }, (_, n) => n)
    const loaded = yield* all(runs.map((n) => small(1, n)))
    assert.deepStrictEqual(
      loaded.map((run) => run !== null),
      runs.map((n) => n % 2 === 0)
    )
    assert.isAtMost(batches.length, 5)
    for (const [, size] of batches) assert.isAtMost(size, 32)
  })
)

it.effect("environments are read apart, and a slow one delays no other", () =>
  Effect.gen(function* () {
    const opened = Latch.makeUnsafe(false)
    const { batches, small } = makeLoader(opened)
    const slow = yield* Effect.forkChild(small(9, 2))
    assert.deepStrictEqual(yield* small(1, 4), loadedRun)
    assert.deepStrictEqual(batches, [[envId(1), 1]])
    yield* opened.open
    assert.deepStrictEqual(yield* Fiber.join(slow), loadedRun)
  })
)

it.effect("an outage fails the reads of its batch only", () =>
  Effect.gen(function* () {
    const { small } = makeLoader(Latch.makeUnsafe(true), 1)
    const first = yield* all([Effect.exit(small(1, 2)), Effect.exit(small(1, 4))])
    assert.deepStrictEqual(first.map(Exit.isFailure), [true, true])
    assert.deepStrictEqual(yield* small(1, 2), loadedRun)
  })
)
