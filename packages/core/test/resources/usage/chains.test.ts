import { assert, describe, it } from "@effect/vitest"
import type { Env, PlanOverrides } from "@weft/core"
import { Dispatcher, Runs, Tenants } from "@weft/core"
import { JournalStore, NodeId, RunId, Timestamp } from "@weft/core/adapter"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { Clock, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeId } from "../../runtime/svc/Runs.ts"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"

const handler = (meta: object, fn: TrustedFunction): TrustedFunction => Object.assign(fn, { meta })

const describeFailure = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : "?")

/** Returns "published", or the error of the call. */
const attempt = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return "published"
  } catch (error) {
    return describeFailure(error)
  }
}

const modules = {
  loops: {
    main: {
      loop: handler({ event: "loop" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.events.publish({ type: "loop", data: null }))
      ),
      twice: handler({ event: "twice" }, async (_: unknown, svc: TrustedSvc) => [
        await attempt(svc.events.publish({ type: "nobody", data: null })),
        await attempt(svc.events.publish({ type: "nobody", data: null }))
      ]),
      delayed: handler({ event: "delayed" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.events.publish({ type: "delayed", data: null, delay: "PT1M" }))
      ),
      retried: handler(
        { event: "retried", retry: { attempts: 2, delay: "1s", jitter: false } },
        async (_: unknown, svc: TrustedSvc) => {
          if (JSON.stringify(svc.run).includes('"attempt":1')) throw new Error("again")
          return await attempt(svc.events.publish({ type: "retried", data: null }))
        }
      ),
      call: handler({ event: "call" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.events.publish({ type: "svc:call", data: { fn: "main/tick", args: [] }, delay: "PT1M" }))
      ),
      once: handler({ event: "once" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.schedules.create({ fn: "main/once", args: [null], schedule: "PT1M" }))
      ),
      recurs: handler({ event: "recurs" }, async (_: unknown, svc: TrustedSvc) => {
        const { id } = Object(await svc.schedules.create({ fn: "main/tick", args: [null], schedule: "* * * * *" }))
        return id
      }),
      tick: () => "ticked",
      cancels: handler({ event: "cancels" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.schedules.cancel({ fn: "main/tick" }))
      )
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

/** Runs a test in an environment whose plan allows chains of this depth. */
const check = <E>(
  claim: string,
  max_chain_depth: number,
  body: (env: Env) => Effect.Effect<void, E, World>,
  limits: NonNullable<PlanOverrides["Free"]> = {}
) =>
  it.effect(claim, () =>
    Effect.gen(function* () {
      const env = yield* deployed("loops")
      yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
      yield* settle
      yield* body(env)
    }).pipe(
      Effect.provide(world(modules, { plans: { Free: { requests_per_second: -1, max_chain_depth, ...limits } } }))
    )
  )

/** Results of all runs, the oldest first. */
const results = (env: Env) => Effect.map(allRuns(env), (runs) => runs.map((run): string => run.result ?? "").reverse())

const later = Effect.gen(function* () {
  for (let turn = 0; turn < 6; turn++) {
    yield* TestClock.adjust("1 minute")
    yield* settle
  }
})

/** Claims all deliveries of the next hour for another node. */
const claimAll = Effect.gen(function* () {
  const now = Timestamp.make((yield* Clock.currentTimeMillis) + 3_600_000)
  const runIds = Array.from({ length: 20 }, (_, index) => RunId.make(makeId(index)))
  const lease = { node_id: NodeId.make(makeId(1)), until: now }
  const journal = yield* JournalStore
  return (yield* journal.claim({ lease, now, runIds, perEnv: 100, exclude: [], freed: [] })).claims
})

const published = '"published"'
const tooDeep = (max: number) =>
  `PlanRequired: The plan allows a chain of ${max} events that cause each other (max_chain_depth), and this event would be the next: end the loop, or use a schedule for a function that repeats itself`

describe("a chain of events", () => {
  check("ends at the depth that the plan allows", 3, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "loop")
      yield* later
      assert.deepStrictEqual(yield* results(env), [published, published, published, JSON.stringify(tooDeep(3))])
    })
  )

  check("is refused with one entry in the run's log", 0, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "twice")
      yield* settle
      assert.deepStrictEqual(yield* results(env), [JSON.stringify([tooDeep(0), tooDeep(0)])])
      const [run] = yield* allRuns(env)
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(run?.run_id ?? "", { limit: 10, offset: 0 }))
      )
      const entries = logs.items.map(({ level, message }) => `${level} ${message}`)
      assert.deepStrictEqual(entries, [tooDeep(0).replace("PlanRequired:", "warn")])
    })
  )

  check("starts at zero with every event from outside", 1, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "loop")
      yield* later
      yield* publish(env, "loop")
      yield* later
      const refused = JSON.stringify(tooDeep(1))
      assert.deepStrictEqual(yield* results(env), [published, refused, published, refused])
    })
  )

  check("may be unlimited", -1, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "delayed")
      yield* later
      assert.deepStrictEqual(
        yield* results(env),
        Array.from({ length: 7 }, () => published)
      )
    })
  )

  check("grows by delayed events, which wait in the store", 2, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "delayed")
      yield* later
      assert.deepStrictEqual(yield* results(env), [published, published, JSON.stringify(tooDeep(2))])
    })
  )

  check("does not grow by retries, and is not shortened by them", 1, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "retried")
      yield* later
      const runs = (yield* allRuns(env)).toReversed()
      assert.deepStrictEqual(
        runs.map(({ attempt: number, status, result }) => [number, status === "failed" ? "failed" : result]),
        [
          [1, "failed"],
          [2, published],
          [1, "failed"],
          [2, JSON.stringify(tooDeep(1))]
        ]
      )
    })
  )

  check("grows by calls in the background", 1, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "call")
      yield* settle
      const depths = (yield* claimAll).map(({ delivery }) => delivery.depth)
      assert.deepStrictEqual(depths, [1])
    })
  )

  check("is refused to call functions and to create schedules beyond its end", 0, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "call")
      yield* publish(env, "once")
      yield* settle
      assert.deepStrictEqual(yield* results(env), [JSON.stringify(tooDeep(0)), JSON.stringify(tooDeep(0))])
    })
  )

  check("continues with the ticks of schedules that a run creates, and does not grow with each tick", 2, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "once")
      yield* publish(env, "recurs")
      yield* settle
      yield* Dispatcher.use((dispatcher) => dispatcher.drain)
      yield* later
      const depths = (yield* claimAll).map(({ delivery }) => delivery.depth)
      assert.isAtLeast(depths.length, 4)
      assert.deepStrictEqual(new Set(depths), new Set([1]))
    })
  )

  check("does not prevent the cancellation of schedules", 1, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "recurs")
      yield* settle
      yield* publish(env, "cancels")
      yield* settle
      assert.strictEqual((yield* results(env)).at(-1), published)
    })
  )
})
