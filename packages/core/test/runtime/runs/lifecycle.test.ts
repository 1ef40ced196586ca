import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Events, Projects, Runs } from "@weft/core"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"

/** A function with its triggers. */
const handler = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, { meta })

interface Svc {
  readonly run: { readonly attempt: number; readonly origin_run_id: string | null }
  readonly events: { readonly publish: (event: object) => Promise<{ readonly event_id: string }> }
  readonly log: { readonly info: (...parts: ReadonlyArray<unknown>) => void }
}

const modules = {
  shop: {
    main: {
      double: handler({ event: "number" }, (event: { event_data: number }) => event.event_data * 2),
      everything: handler({ event: "order:*" }, (event: { event_type: string }) => event.event_type),
      created: handler({ event: "order:created" }, () => "created"),
      flaky: handler(
        { event: "flaky", retry: { attempts: 3, delay: "1s", backoff: 2, jitter: false } },
        (_event: unknown, svc: Svc) => {
          if (svc.run.attempt < 3) throw new TypeError(`attempt ${svc.run.attempt}`)
          return svc.run.attempt
        }
      ),
      hopeless: handler({ event: "hopeless", retry: { attempts: 2, delay: 100, jitter: false } }, () => {
        throw new RangeError("never")
      }),
      chain: handler({ event: "chain" }, async (_event: unknown, svc: Svc) => {
        svc.log.info("publishing", { n: 1 })
        return (await svc.events.publish({ type: "number", data: 21 })).event_id
      }),
      slow: handler({ event: "slow", timeout: "10s" }, () => new Promise(() => {}))
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => Effect.provide(Effect.flatMap(deployed("shop"), body), world(modules)))

describe("an event", () => {
  check("runs the matching handler and stores its result", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "number", 21)
      yield* settle
      const [run, ...rest] = yield* runsOf(env, event.event_id)
      assert.deepStrictEqual(rest, [])
      assert.strictEqual(run?.status, "succeeded")
      assert.strictEqual(run?.result, "42")
      assert.strictEqual(run?.run_type, "event")
      assert.strictEqual(run?.stream_id, event.stream_id)
      assert.strictEqual(run?.project_name, "shop")
      assert.strictEqual(run?.origin_run_id, null)
      assert.isNotNull(run?.stop_time)
    })
  )

  check("runs every handler whose exact type or prefix matches, and none for other types", (env) =>
    Effect.gen(function* () {
      const both = yield* publish(env, "order:created")
      const one = yield* publish(env, "order:paid")
      const none = yield* publish(env, "order")
      yield* settle
      const results = Effect.fnUntraced(function* (id: string) {
        return (yield* runsOf(env, id)).map((run) => String(run.result)).sort()
      })
      assert.deepStrictEqual(yield* results(both.event_id), ['"created"', '"order:created"'])
      assert.deepStrictEqual(yield* results(one.event_id), ['"order:paid"'])
      assert.deepStrictEqual(yield* results(none.event_id), [])
    })
  )

  check("is retried after the delays of the handler, each attempt as a run of its own", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "flaky")
      yield* settle
      const first = (yield* runsOf(env, event.event_id))[0]
      assert.strictEqual(first?.status, "failed")
      assert.include(first?.result ?? "", '"name":"TypeError","message":"attempt 1"')

      yield* TestClock.adjust("900 millis")
      assert.strictEqual((yield* runsOf(env, event.event_id)).length, 1)
      yield* TestClock.adjust("100 millis")
      yield* settle
      assert.strictEqual((yield* runsOf(env, event.event_id)).length, 2)
      yield* TestClock.adjust("1900 millis")
      assert.strictEqual((yield* runsOf(env, event.event_id)).length, 2)
      yield* TestClock.adjust("100 millis")
      yield* settle

      const runs = (yield* runsOf(env, event.event_id)).toReversed()
      assert.deepStrictEqual(
        runs.map((run) => [run.attempt, run.status, run.origin_run_id]),
        [
          [1, "failed", null],
          [2, "failed", first?.run_id ?? ""],
          [3, "succeeded", first?.run_id ?? ""]
        ]
      )
    })
  )

  check("is not retried after the last attempt", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "hopeless")
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.deepStrictEqual(
        (yield* runsOf(env, event.event_id)).map((run) => run.status),
        ["failed", "failed"]
      )
    })
  )

  check("stores the causing run as the origin of its runs, and the log of the run", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "chain")
      yield* settle
      const [cause] = yield* runsOf(env, event.event_id)
      assert.strictEqual(cause?.status, "succeeded")
      const [effect] = yield* runsOf(env, JSON.parse(cause?.result ?? "null"))
      assert.strictEqual(effect?.result, "42")
      assert.strictEqual(effect?.origin_run_id, cause?.run_id)
      assert.notStrictEqual(effect?.stream_id, cause?.stream_id)
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(cause?.run_id ?? "", { limit: 10, offset: 0 }))
      )
      assert.strictEqual(logs.total, 1)
      assert.include(logs.items[0]?.message ?? "", "publishing")
    })
  )

  check("fails a handler that does not return at its timeout", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "slow")
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* runsOf(env, event.event_id))[0]?.status, "running")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      const [run] = yield* runsOf(env, event.event_id)
      assert.strictEqual(run?.status, "failed")
      assert.include(run?.result ?? "", '"name":"TimedOut"')
    })
  )

  check("fails pending deliveries of a removed project with BuildGone", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, "hopeless")
      yield* settle
      yield* asHost(
        env,
        Projects.use((projects) => projects.remove("shop"))
      )
      yield* TestClock.adjust("200 millis")
      yield* settle
      const runs = yield* runsOf(env, event.event_id)
      assert.isTrue(runs.every((run) => run.status === "failed"))
      assert.isAtMost(runs.length, 2)
    })
  )

  check("is counted in the statistics of runs", (env) =>
    Effect.gen(function* () {
      for (const type of ["number", "order:created", "hopeless", "slow"]) yield* publish(env, type, 1)
      yield* settle
      yield* TestClock.adjust("200 millis")
      yield* settle
      const stats = yield* asHost(
        env,
        Runs.use((runs) => runs.stats)
      )
      assert.deepStrictEqual(stats, { total_runs: 6, running: 1, succeeded: 3, failed: 2, cancelled: 0 })
      // The shutdown waits for running deliveries.
      yield* TestClock.adjust("10 seconds")
      yield* settle
    })
  )

  check("is rejected with a reserved, empty or too long type, or an invalid stream id", (env) =>
    Effect.gen(function* () {
      const refused = (input: { type: string; data: null; stream_id?: string }) =>
        asHost(env, Effect.flip(Events.use((events) => events.publish(input))))
      assert.include((yield* refused({ type: "svc:other", data: null })).message, "svc:")
      assert.include((yield* refused({ type: "", data: null })).message, "event_type")
      assert.include((yield* refused({ type: "x".repeat(257), data: null })).message, "event_type")
      assert.include((yield* refused({ type: "x", data: null, stream_id: "nope" })).message, "stream_id")
    })
  )
})

describe("slots of a node", () => {
  const narrow = world(modules, { deliveries: { total: 4, perEnv: 2 } })

  it.effect("keep excess deliveries pending in the store until a slot is free", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      for (let n = 0; n < 12; n++) yield* publish(env, "number", n)
      yield* settle
      const runs = yield* allRuns(env)
      assert.deepStrictEqual(
        runs.map((run) => Number(run.result)).sort((a, b) => a - b),
        Array.from({ length: 12 }, (_, n) => n * 2)
      )
    }).pipe(Effect.provide(narrow))
  )

  it.effect("are not all taken by an environment whose code never returns", () =>
    Effect.gen(function* () {
      const stuck = yield* deployed("shop", "stuck")
      const other = yield* deployed("shop", "other")
      for (let n = 0; n < 20; n++) yield* publish(stuck, "slow")
      const event = yield* publish(other, "number", 4)
      yield* settle
      assert.strictEqual((yield* runsOf(other, event.event_id))[0]?.result, "8")
      assert.strictEqual((yield* allRuns(stuck)).filter((run) => run.status === "running").length, 2)

      // The hanging runs end two at a time, at their timeout of 10 s.
      for (let round = 0; round < 10; round++) {
        yield* TestClock.adjust("10 seconds")
        yield* settle
      }
      assert.strictEqual((yield* allRuns(stuck)).filter((run) => run.status === "failed").length, 20)
    }).pipe(Effect.provide(narrow))
  )
})
