import { assert, describe, it } from "@effect/vitest"
import type { Env, RuntimeConfig } from "@weft/core"
import { AuditLog, Deliveries, type DeliveryQuery, Projects, RunControl, Webhooks } from "@weft/core"
import { JournalStore, NodeId, ProjectStore, RunId, Timestamp } from "@weft/core/adapter"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { Clock, Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { as } from "../../Services.ts"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"
import { makeId } from "../svc/Runs.ts"

/** Functions that never return. They are ended after each test, because the shutdown waits for them. */
const pendingCalls = new Set<(value: string) => void>()
const never = () => new Promise<string>((resolve) => pendingCalls.add(resolve))
const endAll = Effect.sync(() => {
  for (const resolve of pendingCalls) resolve("ended")
  pendingCalls.clear()
})

const on = (meta: object, fn: TrustedFunction): TrustedFunction => Object.assign(fn, { meta })

/** Number of calls of the handler that publishes its own event twice. */
let doublings = 0

const modules = {
  app: {
    main: {
      doubles: on({ event: "double" }, async (_: unknown, svc: TrustedSvc) => {
        doublings++
        await Promise.all([1, 2].map(() => svc.events.publish({ type: "double", data: null, delay: "PT1S" })))
      }),
      hangs: on({ event: "hang", retry: { attempts: 5, delay: "1s", jitter: false } }, () => never()),
      single: on({ event: "single", concurrency: { limit: 1 } }, () => never()),
      quick: on({ event: "quick" }, () => "done"),
      fails: on({ event: "fail", retry: { attempts: 2, delay: "10s", jitter: false } }, () => {
        throw new Error("no")
      }),
      hook: on({ webhook: { service: "s", path: "/hang", method: "GET", auth: "none" } }, () => never())
    }
  },
  other: { main: { quick: on({ event: "quick" }, () => "other") } }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(
  claim: string,
  body: (env: Env) => Effect.Effect<void, E, World>,
  config: Omit<RuntimeConfig, "masterKeys"> = {}
) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(deployed("app"), (env) => Effect.ensuring(body(env), endAll)),
      world(modules, config)
    )
  )

const cancel = (env: Env, query: DeliveryQuery = {}) =>
  asHost(
    env,
    Deliveries.use((deliveries) => deliveries.cancel(query))
  )

const removeProject = (env: Env, name = "app") =>
  asHost(
    env,
    Projects.use((projects) => projects.remove(name))
  )

/** Claims everything that is pending within a day for another node. */
const claimAll = Effect.gen(function* () {
  const now = Timestamp.make((yield* Clock.currentTimeMillis) + 86_400_000)
  const runIds = Array.from({ length: 500 }, (_, index) => RunId.make(makeId(index)))
  const lease = { node_id: NodeId.make(makeId(1)), until: now }
  const journal = yield* JournalStore
  return (yield* journal.claim({ lease, now, runIds, perEnv: 500, exclude: [], freed: [] })).claims
})

const statuses = (env: Env) => Effect.map(allRuns(env), (runs) => runs.map((run) => `${run.var} ${run.status}`).sort())

const later = (minutes: number) =>
  Effect.gen(function* () {
    for (let minute = 0; minute < minutes; minute++) {
      yield* TestClock.adjust("1 minute")
      yield* settle
    }
  })

describe("a removed project", () => {
  check("ends a handler that publishes its own event twice", (env) =>
    Effect.gen(function* () {
      doublings = 0
      yield* publish(env, "double")
      for (let second = 0; second < 4; second++) {
        yield* TestClock.adjust("1 second")
        yield* settle
      }
      assert.isAtLeast(doublings, 15)
      yield* removeProject(env)
      yield* settle
      const before = doublings
      yield* later(1)
      assert.strictEqual(doublings, before)
      assert.deepStrictEqual(yield* claimAll, [])
    })
  )

  check("has its pending, parked and running deliveries and its webhook calls cancelled", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "hang")
      yield* publish(env, "single")
      yield* publish(env, "single")
      yield* publish(env, "fail")
      const call = yield* Effect.forkChild(
        Webhooks.use((webhooks) =>
          webhooks.handle({
            ...{ org: "app", env: "production", service: "s", path: "/hang", method: "GET", url: "/hang" },
            ...{ query: {}, headers: {}, body: null, remoteIp: "127.0.0.1", token: null }
          })
        )
      )
      yield* settle
      yield* settle
      assert.deepStrictEqual(yield* statuses(env), ["fails failed", "hangs running", "hook running", "single running"])
      yield* removeProject(env)
      yield* settle
      const ended = ["fails failed", "hangs cancelled", "hook cancelled", "single cancelled"]
      assert.deepStrictEqual(yield* statuses(env), ended)
      yield* endAll
      yield* later(2)
      assert.deepStrictEqual(yield* statuses(env), ended)
      yield* Fiber.interrupt(call)
    })
  )

  check("leaves other projects alone", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "hang")
      yield* settle
      yield* asHost(
        env,
        Projects.use((projects) => Effect.andThen(projects.create({ name: "empty" }), projects.remove("empty")))
      )
      yield* later(1)
      assert.deepStrictEqual(yield* statuses(env), ["hangs running"])
    })
  )

  check("is completed by a node that starts later, and its record remains for a day", (env) =>
    Effect.gen(function* () {
      const projects = yield* ProjectStore
      yield* removeProject(env)
      yield* later(5)
      assert.strictEqual((yield* projects.removals(null, 10)).length, 1)
      yield* later(6)
      assert.deepStrictEqual(yield* projects.removals(null, 10), [])
    })
  )
})

describe("cancelled deliveries", () => {
  const backlog = (env: Env) =>
    Effect.gen(function* () {
      for (const type of ["quick", "quick", "single", "fail"]) yield* publish(env, type)
    })
  /** No slots, so that everything waits. */
  const waiting = { deliveries: { total: 0, perEnv: 0 } }

  check(
    "are those of a project, a function or an event type",
    (env) =>
      Effect.gen(function* () {
        yield* backlog(env)
        assert.strictEqual(yield* cancel(env, { fn: "main/nothing" }), 0)
        assert.strictEqual(yield* cancel(env, { project: "nothing" }), 0)
        assert.strictEqual(yield* cancel(env, { fn: "app:main/single", eventType: "quick" }), 0)
        assert.strictEqual(yield* cancel(env, { fn: "main/single" }), 1)
        assert.strictEqual(yield* cancel(env, { eventType: "quick", project: "app" }), 2)
        assert.strictEqual(yield* cancel(env), 1)
        assert.deepStrictEqual(yield* claimAll, [])
      }),
    waiting
  )

  check(
    "are more than one transaction examines",
    (env) =>
      Effect.gen(function* () {
        for (let n = 0; n < 1203; n++) yield* publish(env, n === 600 ? "single" : "quick")
        assert.strictEqual(yield* cancel(env, { fn: "main/single" }), 1)
        assert.strictEqual(yield* cancel(env), 1202)
      }),
    waiting
  )

  check(
    "are only those of functions that the caller may call",
    (env) =>
      Effect.gen(function* () {
        yield* backlog(env)
        const limited = as(env.env_id, { "call:main/single": ["create"] })
        const cancelled = Deliveries.use((deliveries) => deliveries.cancel({}))
        assert.strictEqual(yield* limited(cancelled), 1)
        const none = as(env.env_id, { "run:*": ["read"] })
        assert.strictEqual((yield* Effect.flip(none(cancelled)))._tag, "Forbidden")
        assert.strictEqual((yield* claimAll).length, 3)
      }),
    waiting
  )

  check(
    "are in the audit log with their number",
    (env) =>
      Effect.gen(function* () {
        yield* backlog(env)
        yield* cancel(env, { eventType: "quick" })
        const { items } = yield* AuditLog.use((log) =>
          log.listAll({ action: "deliveries.cancel" }, { limit: 10, offset: 0 })
        )
        assert.deepStrictEqual(
          items.map((entry) => entry.details),
          ['{"eventType":"quick","cancelled":2}'] as ReadonlyArray<string>
        )
      }),
    waiting
  )

  check("do not include running runs, and free their group", (env) =>
    Effect.gen(function* () {
      for (let n = 0; n < 3; n++) yield* publish(env, "single")
      yield* settle
      assert.strictEqual(yield* cancel(env), 2)
      const [run] = yield* allRuns(env)
      assert.strictEqual(run?.status, "running")
      yield* asHost(
        env,
        RunControl.use((control) => control.cancel(run?.run_id ?? ""))
      )
      yield* publish(env, "single")
      yield* settle
      yield* settle
      assert.deepStrictEqual(yield* statuses(env), ["single cancelled", "single running"])
    })
  )

  check("reject invalid filters", (env) =>
    Effect.gen(function* () {
      const refused = (query: DeliveryQuery) => Effect.map(Effect.flip(cancel(env, query)), (error) => error.message)
      assert.strictEqual(yield* refused({ fn: "main" }), "fn must be a function reference: ns/var or project:ns/var")
      assert.include(yield* refused({ project: "" }), "project must have 1 to 512 characters")
      assert.include(yield* refused({ eventType: "\u0000" }), "event_type must have 1 to 512 characters")
    })
  )
})
