/** Pauses on nodes with a common store, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, layer, type NewPause, Pauses, type WeftServices } from "@weft/core"
import { now, PauseStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { at, create, echo, scheduled, ticking, times, withMeta } from "../../resources/schedules/Fixtures.ts"
import { asHost, deployed, masterKeys, publish, runsOf, settle } from "../../world.ts"

const modules = {
  app: {
    main: {
      ...ticking("* * * * *").main,
      echo,
      job: withMeta({ event: "job" }, () => "done"),
      other: withMeta({ event: "other" }, () => "done"),
      naps: withMeta(
        { event: "nap", durable: true },
        (_: never, svc: { sleep: (name: string, time: string) => unknown }) => svc.sleep("nap", "1m")
      )
    }
  }
}

type Stores = Layer.Success<typeof MemoryStores.layer>

const check = <E>(claim: string, body: Effect.Effect<void, E, Stores>) =>
  it.effect(claim, () => Effect.andThen(at("2026-03-01T10:00:30Z"), Effect.provide(body, MemoryStores.layer)))

/** Starts a node on the stores. `on` runs effects on it. */
const startNode = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(Layer.provide(layer({ masterKeys }), trustedSandbox(modules))),
    scope
  )
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    die: Scope.close(scope, Exit.void)
  }
})

const pause = (env: Env, input: NewPause) =>
  asHost(
    env,
    Pauses.use((pauses) => pauses.pause(input))
  )

const resume = (env: Env, id: string) =>
  asHost(
    env,
    Pauses.use((pauses) => pauses.resume(id))
  )

const countRuns = (env: Env, eventId: string) =>
  Effect.andThen(
    settle,
    Effect.map(runsOf(env, eventId), (runs) => runs.length)
  )

describe("a pause", () => {
  check(
    "keeps deliveries on every node, and its end starts them",
    Effect.gen(function* () {
      const [one, two] = [yield* startNode, yield* startNode]
      const env = yield* one.on(deployed("app"))
      const { pause_id } = yield* one.on(pause(env, { fn: "app:main/job" }))
      yield* settle
      const kept = [yield* one.on(publish(env, "job")), yield* two.on(publish(env, "job"))]
      const free = yield* two.on(publish(env, "other"))
      for (const { event_id } of kept) assert.strictEqual(yield* one.on(countRuns(env, event_id)), 0)
      assert.strictEqual(yield* one.on(countRuns(env, free.event_id)), 1)
      yield* two.on(resume(env, pause_id))
      for (const { event_id } of kept) assert.strictEqual(yield* one.on(countRuns(env, event_id)), 1)
      yield* Effect.forEach([one, two], ({ die }) => die)
    })
  )

  check(
    "that ended on a node that died releases its deliveries on another one",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const { pause_id } = yield* node.on(pause(env, { project: "app" }))
      const { event_id } = yield* node.on(publish(env, "job"))
      assert.strictEqual(yield* node.on(countRuns(env, event_id)), 0)
      const ended = yield* now
      yield* PauseStore.use((pauses) =>
        Effect.flatMap(pauses.active(env.env_id), ([found]) => {
          assert.strictEqual(found?.pause_id, pause_id)
          return found === undefined ? Effect.void : pauses.resume(env.env_id, found.pause_id, ended)
        })
      )
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* node.on(countRuns(env, event_id)), 1)
      assert.deepStrictEqual(yield* PauseStore.use((pauses) => pauses.all), [])
      yield* node.die
    })
  )

  check(
    "lets a durable run continue that has begun",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const { event_id } = yield* node.on(publish(env, "nap"))
      assert.strictEqual(yield* node.on(countRuns(env, event_id)), 1)
      yield* node.on(pause(env, {}))
      yield* TestClock.adjust("1 minute")
      yield* settle
      const [run] = yield* node.on(runsOf(env, event_id))
      assert.strictEqual(run?.status, "succeeded")
      yield* node.die
    })
  )

  check(
    "fires the latest missed tick of a schedule at its end",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const { pause_id } = yield* node.on(pause(env, { fn: "app:main/tick" }))
      yield* TestClock.adjust("5 minutes")
      assert.isEmpty(yield* node.on(scheduled(env)))
      yield* node.on(resume(env, pause_id))
      assert.strictEqual((yield* node.on(scheduled(env))).length, 1)
      assert.deepStrictEqual(yield* node.on(times(env)), ["2026-03-01T10:05:00.000Z"])
      yield* node.die
    })
  )

  check(
    "with `skip` drops ticks of cron schedules, but not the tick of a schedule that has only one",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      yield* node.on(create(env, { fn: "main/echo", schedule: "PT2M" }))
      const { pause_id } = yield* node.on(pause(env, { project: "app", schedules: "skip" }))
      yield* TestClock.adjust("5 minutes")
      assert.isEmpty(yield* node.on(times(env)))
      yield* node.on(resume(env, pause_id))
      yield* settle
      assert.lengthOf(yield* node.on(times(env)), 1)
      yield* node.die
    })
  )

  check(
    "of an environment has a limit of 200",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      for (let n = 0; n < 200; n++) yield* node.on(pause(env, { project: "app", fn: `main/f${n}` }))
      const refused = yield* node.on(Effect.flip(pause(env, {})))
      assert.strictEqual(refused._tag, "BadRequest")
      assert.strictEqual(
        (yield* node.on(pause(env, { project: "app", fn: "main/f7", schedules: "skip" }))).schedules,
        "skip"
      )
      yield* node.die
    })
  )
})
