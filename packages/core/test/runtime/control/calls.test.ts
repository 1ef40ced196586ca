import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Builds, Calls, Events, type NewCall, Projects, Runs } from "@weft/core"
import { type TrustedSvc, trustedZip } from "@weft/core/testing"
import { Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { as, failure } from "../../Services.ts"
import { allRuns, asHost, deployed, runsOf, settle, world } from "../../world.ts"
import { endAll, never } from "./PendingRuns.ts"

let attempts = 0

const modules = {
  app: {
    main: {
      add: (a: number, b: number) => a + b,
      slow: () => new Promise((resolve) => setImmediate(resolve)).then(() => "done"),
      never,
      flaky: Object.assign(
        () => {
          attempts++
          if (attempts < 3) throw new Error("not yet")
          return attempts
        },
        { meta: { retry: { attempts: 3, delay: "1s", jitter: false, backoff: 1 } } }
      ),
      lies: () => {
        throw Object.assign(new Error("I did not"), { name: "NodeLost" })
      },
      single: Object.assign(() => never(), { meta: { concurrency: { limit: 1 } } }),
      parent: Object.assign((_event: unknown, svc: TrustedSvc) => svc.call("main/add", [1, 2]), {
        meta: { event: "parent" }
      }),
      all: Object.assign(() => "seen", { meta: { event: "*" } })
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(deployed("app"), (env) => Effect.ensuring(body(env), endAll)),
      world(modules)
    )
  )

const call = (env: Env, input: NewCall) =>
  asHost(
    env,
    Calls.use((calls) => calls.call(input))
  )

/** As `call`, while the clock advances. */
const callWhileTimePasses = (env: Env, input: NewCall, seconds = 0) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(call(env, input))
    yield* settle
    for (let second = 0; second < seconds; second++) {
      yield* TestClock.adjust("1 second")
      yield* settle
    }
    return yield* Fiber.join(fiber)
  })

const publishCall = (env: Env, data: Readonly<Record<string, string | number | ReadonlyArray<number>>> | null) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type: "svc:call", data }))
  )

describe("svc:call", () => {
  check("runs the function with the args and no handlers", (env) =>
    Effect.gen(function* () {
      const event = yield* publishCall(env, { fn: "main/add", args: [2, 3] })
      yield* settle
      const runs = yield* runsOf(env, event.event_id)
      assert.deepStrictEqual(
        runs.map((run) => [run.var, run.run_type, run.status, run.result, run.stream_id]),
        [["add", "call", "succeeded", "5", event.stream_id]]
      )
    })
  )

  check("is rejected with the name of the invalid field", (env) =>
    Effect.gen(function* () {
      const cases = [
        [null, "event_data must be"],
        [{ args: [1] }, "event_data.fn"],
        [{ fn: 7 }, "event_data.fn"],
        [{ fn: "main/add", args: "1" }, "event_data.args"],
        [{ fn: "main/nothing" }, "there is no function of this name"],
        [{ fn: "other:main/add" }, "there is no function of this name"]
      ] as const
      for (const [data, expected] of cases) {
        const error = yield* Effect.flip(publishCall(env, data))
        assert.strictEqual(error._tag, "BadRequest")
        assert.include(error.message, expected)
      }
      assert.deepStrictEqual(yield* allRuns(env), [])
    })
  )

  check("cannot be published with another name of the reserved prefix", (env) =>
    Effect.gen(function* () {
      for (const type of ["svc:", "svc:schedule", "svc:other"]) {
        const published = Events.use((events) => events.publish({ type, data: { fn: "main/add" } }))
        assert.strictEqual(yield* failure(asHost(env, published)), "BadRequest")
      }
    })
  )

  check("requires permission for the event and for the function, by either name", (env) =>
    Effect.gen(function* () {
      const published = Events.use((events) => events.publish({ type: "svc:call", data: { fn: "main/add" } }))
      const granted = (permissions: object) => as(env.env_id, permissions)(published)
      const event = { "event:svc:call": ["create"] }
      assert.strictEqual(yield* failure(granted({ "call:*": ["create"] })), "Forbidden")
      assert.strictEqual(yield* failure(granted(event)), "Forbidden")
      assert.strictEqual(yield* failure(granted({ ...event, "call:main/slow": ["create"] })), "Forbidden")
      yield* granted({ ...event, "call:main/add": ["create"] })
      yield* granted({ ...event, "call:app:main/add": ["create"] })
    })
  )

  check("is published by svc.call on the stream of the calling run, which is its origin", (env) =>
    Effect.gen(function* () {
      yield* asHost(
        env,
        Events.use((events) => events.publish({ type: "parent", data: null }))
      )
      yield* settle
      const runs = yield* allRuns(env)
      const parent = runs.find((run) => run.var === "parent")
      const child = runs.find((run) => run.var === "add")
      assert.strictEqual(child?.origin_run_id, parent?.run_id)
      assert.strictEqual(child?.stream_id, parent?.stream_id)
      assert.strictEqual(parent?.result, JSON.stringify({ event_id: child?.event_id, stream_id: child?.stream_id }))
    })
  )
})

describe("Calls.call", () => {
  check("returns the run at once, or its end to a caller that waits", (env) =>
    Effect.gen(function* () {
      const never = yield* callWhileTimePasses(env, { fn: "main/never" })
      assert.strictEqual(never.run?.status, "running")
      const added = yield* callWhileTimePasses(env, { fn: "app:main/add", args: [1, 2], wait: 10 })
      assert.deepStrictEqual([added.run?.status, added.run?.result], ["succeeded", "3"])
      assert.strictEqual((yield* callWhileTimePasses(env, { fn: "main/slow", wait: 10 })).run?.result, '"done"')
    })
  )

  check("returns the end of a function that fails with the error name of a lost node", (env) =>
    Effect.gen(function* () {
      const { run } = yield* callWhileTimePasses(env, { fn: "main/lies", wait: 10 }, 1)
      assert.strictEqual(run?.status, "failed")
    })
  )

  check("returns a run that has not ended in time as it is", (env) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(call(env, { fn: "main/never", wait: 3 }))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual((yield* Fiber.join(fiber)).run?.status, "running")
    })
  )

  check("waits for further attempts", (env) =>
    Effect.gen(function* () {
      attempts = 0
      const { run } = yield* callWhileTimePasses(env, { fn: "main/flaky", wait: 30 }, 4)
      assert.deepStrictEqual([run?.status, run?.attempt, run?.result], ["succeeded", 3, "3"])
    })
  )

  check("returns no run if none begins in time, and keeps the call", (env) =>
    Effect.gen(function* () {
      const first = yield* callWhileTimePasses(env, { fn: "main/single" })
      assert.strictEqual(first.run?.status, "running")
      const second = yield* callWhileTimePasses(env, { fn: "main/single" }, 2)
      assert.isNull(second.run)
      assert.strictEqual(second.event.event_type, "svc:call")
      assert.deepStrictEqual(yield* runsOf(env, second.event.event_id), [])
      yield* endAll
      yield* settle
      assert.strictEqual((yield* runsOf(env, second.event.event_id)).length, 1)
    })
  )

  check("waits at most the given time, even if the run begins late", (env) =>
    Effect.gen(function* () {
      yield* callWhileTimePasses(env, { fn: "main/single" })
      const fiber = yield* Effect.forkChild(call(env, { fn: "main/single", wait: 5 }))
      yield* settle
      yield* TestClock.adjust("4 seconds")
      yield* endAll
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual(fiber.pollUnsafe()?._tag, "Success")
      assert.strictEqual((yield* Fiber.join(fiber)).run?.status, "running")
    })
  )

  check("makes one call per idempotency key", (env) =>
    Effect.gen(function* () {
      const asked = { fn: "main/add", args: [1, 2], wait: 5, idempotencyKey: "once" }
      const first = yield* callWhileTimePasses(env, asked)
      const again = yield* callWhileTimePasses(env, asked)
      assert.deepStrictEqual(again, first)
      const other = call(env, { ...asked, args: [3] })
      assert.strictEqual(yield* failure(other), "BadRequest")
      assert.strictEqual((yield* allRuns(env)).length, 1)
    })
  )

  check("requires only call: create on the function", (env) =>
    Effect.gen(function* () {
      const asked = (permissions: object, fn = "main/never") =>
        as(env.env_id, permissions)(Calls.use((calls) => calls.call({ fn })))
      for (const path of ["*", "main/never", "app:main/never"]) {
        yield* Effect.forkChild(asked({ [`call:${path}`]: ["create"] }))
        yield* settle
      }
      // Turns pause after long work, in real time.
      for (let tries = 0; tries < 1_000 && (yield* allRuns(env)).length < 3; tries++) {
        yield* TestClock.withLive(Effect.sleep("5 millis"))
        yield* settle
      }
      assert.strictEqual((yield* allRuns(env)).length, 3)
      assert.strictEqual(yield* failure(asked({ "event:*": ["create"] })), "Forbidden")
      assert.strictEqual(yield* failure(asked({ "call:main/add": ["create"] })), "Forbidden")
      // Only callers with the permission learn whether the function exists.
      assert.strictEqual(yield* failure(asked({ "call:main/add": ["create"] }, "main/nothing")), "Forbidden")
      assert.strictEqual(yield* failure(asked({ "call:*": ["create"] }, "main/nothing")), "BadRequest")
    })
  )

  check("accepts a wait of 0 to 300 s", (env) =>
    Effect.gen(function* () {
      for (const wait of [-1, 301, Number.NaN]) {
        assert.strictEqual(yield* failure(call(env, { fn: "main/add", wait })), "BadRequest")
      }
    })
  )

  check("rejects a reference to two functions and names their projects", (env) =>
    Effect.gen(function* () {
      const zip = trustedZip("app")
      const hash = createHash("sha256").update(zip).digest("hex")
      yield* asHost(
        env,
        Effect.gen(function* () {
          yield* Projects.use((projects) => projects.create({ name: "second" }))
          const { build } = yield* Builds.use((builds) => builds.upload("second", { zip, hash }))
          yield* Builds.use((builds) => builds.deploy("second", build.build_id))
        })
      )
      yield* settle
      const error = yield* Effect.flip(call(env, { fn: "main/add" }))
      assert.strictEqual(error._tag, "BadRequest")
      assert.match(error.message, /ambiguous.*(app, second|second, app)/)
      const { run } = yield* callWhileTimePasses(env, { fn: "second:main/add", args: [4, 4], wait: 5 })
      assert.deepStrictEqual([run?.project_name, run?.result], ["second", "8"])
      assert.isAbove(
        (yield* asHost(
          env,
          Runs.use((runs) => runs.stats)
        )).total_runs,
        0
      )
    })
  )
})
