import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { AuditLog, Evaluations, type NewEvaluation, type PlanOverrides, Runs } from "@weft/core"
import type { LogEntry } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { as } from "../Services.ts"
import { allRuns, asHost, deployed, world } from "../world.ts"

const modules = { app: { main: { add: (a: number, b: number) => a + b } } }

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>, plans: PlanOverrides = {}) =>
  it.effect(claim, () => Effect.provide(Effect.flatMap(deployed("app"), body), world(modules, { plans })))

const evaluate = (input: NewEvaluation, onLog?: (entry: LogEntry) => void) =>
  Effect.flatMap(Evaluations, (evaluations) => evaluations.evaluate(input, onLog === undefined ? {} : { onLog }))

const refusal = (env: Env, input: NewEvaluation) =>
  Effect.map(Effect.flip(asHost(env, evaluate(input))), ({ _tag, message }) => `${_tag}: ${message}`)

const may = { "eval:*": ["execute"] }

describe("Evaluations", () => {
  check("runs a source with its arguments, as a run of type `eval` without a build", (env) =>
    Effect.gen(function* () {
      const { run } = yield* asHost(env, evaluate({ source: "args[0] * args[1]", args: [6, 7] }))
      assert.deepStrictEqual([run.run_type, run.status, run.result, run.event_id], ["eval", "succeeded", "42", null])
      const { items } = yield* asHost(
        env,
        Runs.use((runs) => runs.list({ limit: 10, offset: 0 }, { type: "eval" }))
      )
      assert.deepStrictEqual(
        items.map(({ run_id, project_name, result }) => [run_id, project_name, result]),
        [[run.run_id, "", "42"]]
      )
    })
  )

  check("returns the log and the error of a source that fails", (env) =>
    Effect.gen(function* () {
      const live: Array<string> = []
      const source = "svc.log.info('before', { a: 1 }); throw new RangeError('no')"
      const { run, logs } = yield* asHost(
        env,
        evaluate({ source }, ({ message }) => live.push(message))
      )
      assert.strictEqual(run.status, "failed")
      assert.include(run.result, '{"error":{"name":"RangeError","message":"no"')
      assert.deepStrictEqual(
        logs.map(({ message }) => message),
        ["evaluation", "before"]
      )
      assert.deepStrictEqual(live, ["before"])
    })
  )

  check("stores the hash of the source in the log and in the audit log, and never the source", (env) =>
    Effect.gen(function* () {
      const source = "'confidential'.length"
      const { run, logs } = yield* asHost(env, evaluate({ source }))
      assert.notInclude(JSON.stringify([run, logs]), "confidential")
      const { items } = yield* AuditLog.use((log) => log.listAll({ action: "eval.run" }, { limit: 10, offset: 0 }))
      assert.strictEqual(items.length, 1)
      const details = items[0]?.details ?? ""
      assert.match(details, /^\{"source_sha256":"[0-9a-f]{64}","bytes":21\}$/)
      assert.strictEqual(logs[0]?.data, details)
    })
  )

  check("acts with exactly the permissions of its caller", (env) =>
    Effect.gen(function* () {
      const source =
        "try { return typeof (await svc.events.publish({ type: 'a', data: 1 })) } catch (error) { return error.name }"
      const result = (permissions: object) =>
        Effect.map(as(env.env_id, { ...may, ...permissions })(evaluate({ source })), ({ run }) => run.result)
      assert.strictEqual(yield* result({}), '"Forbidden"')
      assert.strictEqual(yield* result({ "event:b": ["create"] }), '"Forbidden"')
      assert.strictEqual(yield* result({ "event:a": ["create"] }), '"object"')
    })
  )

  check("requires eval: execute, and for a build the permissions to upload and deploy it", (env) =>
    Effect.gen(function* () {
      const tag = (permissions: object, input: NewEvaluation) =>
        Effect.map(Effect.flip(as(env.env_id, permissions)(evaluate(input))), ({ _tag }) => _tag)
      const plain = { source: "1" }
      const withBuild = { source: "1", project: "app" }
      assert.strictEqual(yield* tag({ "call:*": ["create"], "build:*": ["*"] }, plain), "Forbidden")
      for (const actions of [["read"], ["execute"], ["create"]])
        assert.strictEqual(yield* tag({ ...may, "build:app": actions }, withBuild), "Forbidden")
      assert.strictEqual(yield* tag({ ...may, "build:*": ["*"] }, { ...withBuild, project: "none" }), "NotFound")
      const { run } = yield* as(env.env_id, { ...may, "build:app": ["create", "execute"] })(evaluate(withBuild))
      assert.strictEqual(run.project_name, "app")
    })
  )

  check(
    "is off by plan, and bounded by its bytes",
    (env) =>
      Effect.gen(function* () {
        assert.include(yield* refusal(env, { source: "1" }), "PlanRequired: The plan allows no evaluation")
        assert.deepStrictEqual(yield* allRuns(env), [])
      }),
    { "Self-Host": { max_eval_source_bytes: 0 } }
  )

  check(
    "rejects a longer source, an invalid one and an invalid timeout",
    (env) =>
      Effect.gen(function* () {
        assert.include(
          yield* refusal(env, { source: "'ä'.length" }),
          "BadRequest: source has 11 bytes, and the plan allows 10"
        )
        assert.include(yield* refusal(env, { source: "1 +" }), "BadRequest: source: eval.ts")
        for (const timeout of [0, 61, Number.NaN])
          assert.include(yield* refusal(env, { source: "1", timeout }), "BadRequest: timeout must be")
        assert.deepStrictEqual(yield* allRuns(env), [])
      }),
    { "Self-Host": { max_eval_source_bytes: 10 } }
  )
})
