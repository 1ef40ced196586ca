import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { AuditLog, BuildRuns, Builds, type NewBuildRun, Projects, Runs } from "@weft/core"
import { trustedZip } from "@weft/core/testing"
import { Effect, Fiber, type Layer } from "effect"
import { as } from "../../Services.ts"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"

const modules = {
  app: { main: { add: (a: number, b: number) => a + b } },
  next: {
    main: {
      add: (a: number, b: number) => (a + b) * 10
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

/** Uploads the module `next` to the project `app` without deploying it. Returns the id of the build. */
const uploadNext = Effect.fnUntraced(function* (env: Env) {
  const zip = trustedZip("next")
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = yield* asHost(
    env,
    Builds.use((builds) => builds.upload("app", { zip, hash }))
  )
  return build.build_id
})

const check = <E>(claim: string, body: (env: Env, build: string) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.gen(function* () {
        const env = yield* deployed("app")
        yield* body(env, yield* uploadNext(env))
      }),
      world(modules)
    )
  )

const start = (build: string, input: NewBuildRun, project = "app") =>
  BuildRuns.use((runs) => runs.run(project, build, input))

/** Runs the effect while the clock advances. */
const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* settle
    return yield* Fiber.join(fiber)
  })

describe("BuildRuns", () => {
  check("runs a function of a build that was never deployed, as type `run`", (env, build) =>
    Effect.gen(function* () {
      const { event, run } = yield* whileTimePasses(
        asHost(env, start(build, { fn: "main/add", args: [1, 2], wait: 5 }))
      )
      assert.deepStrictEqual(
        [run?.run_type, run?.build_id, run?.status, run?.result, run?.stream_id],
        ["run", build, "succeeded", "30", event.stream_id]
      )
      const listed = yield* asHost(
        env,
        Runs.use((runs) => runs.list({ limit: 10, offset: 0 }, { type: "run" }))
      )
      assert.deepStrictEqual(
        listed.items.map(({ run_id }) => run_id),
        [run?.run_id]
      )
    })
  )

  check("leaves the deployed build active, and audits the run with its event", (env, build) =>
    Effect.gen(function* () {
      const { event } = yield* whileTimePasses(asHost(env, start(build, { fn: "main/add" })))
      const active = yield* asHost(
        env,
        Builds.use((builds) => builds.deployed("app"))
      )
      assert.notStrictEqual(active.build_id, build)
      const { items } = yield* AuditLog.use((log) => log.listAll({ action: "build.run" }, { limit: 10, offset: 0 }))
      assert.deepStrictEqual(
        items.map(({ object_id, object_name, details }) => [object_id, object_name, details]),
        [[build, "app:main/add", `{"event_id":"${event.event_id}"}`]]
      )
    })
  )

  check("rejects unknown functions, builds of other projects and invalid waits", (env, build) =>
    Effect.gen(function* () {
      yield* asHost(
        env,
        Projects.use((projects) => projects.create({ name: "other" }))
      )
      const rejected = (input: NewBuildRun, project?: string) =>
        Effect.map(Effect.flip(asHost(env, start(build, input, project))), ({ _tag, message }) => `${_tag}: ${message}`)
      assert.include(yield* rejected({ fn: "main/nothing" }), "BadRequest: fn: the build has no function")
      assert.include(yield* rejected({ fn: "main/add", wait: 301 }), "BadRequest: wait must be")
      assert.include(yield* rejected({ fn: "main/add" }, "other"), "NotFound")
      assert.deepStrictEqual(yield* allRuns(env), [])
    })
  )

  check("requires build: execute on the project and call: create on the function", (env, build) =>
    Effect.gen(function* () {
      const granted = (permissions: object) =>
        whileTimePasses(as(env.env_id, permissions)(start(build, { fn: "main/add" })))
      const execute = { "build:app": ["execute"] }
      for (const lacking of [
        execute,
        { "call:*": ["create"] },
        { ...execute, "call:main/other": ["create"] },
        { "build:app": ["read", "create"], "call:*": ["create"] }
      ]) {
        assert.strictEqual((yield* Effect.flip(granted(lacking)))._tag, "Forbidden")
      }
      yield* granted({ ...execute, "call:main/add": ["create"] })
      yield* granted({ ...execute, "call:app:main/add": ["create"] })
    })
  )
})
