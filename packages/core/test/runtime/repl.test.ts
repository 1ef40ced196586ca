import { assert, describe, it } from "@effect/vitest"
import type { Env, Identity } from "@weft/core"
import { AuditLog, Caller, hostIdentity, type PlanOverrides, Repl, Runs } from "@weft/core"
import { Sandbox, sessionNamespace } from "@weft/core/adapter"
import { fullPermissions } from "@weft/core/internal"
import { trustedSandbox } from "@weft/core/testing"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { as } from "../Services.ts"
import { allRuns, asHost, deployed, settle, world } from "../world.ts"

const modules = { app: { main: { add: (a: number, b: number) => a + b } } }

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>, plans: PlanOverrides = {}) =>
  it.effect(claim, () => Effect.provide(Effect.flatMap(deployed("app"), body), world(modules, { plans })))

const open = Repl.use((repl) => repl.open({}))
const input = (id: string, source: string) => Repl.use((repl) => repl.input(id, { source }))
const list = Repl.use((repl) => repl.list({ limit: 10, offset: 0 }))

const refusal = <A, E extends { readonly _tag: string; readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag, message }) => `${_tag}: ${message}`)

const keyOf = (env: Env, id: string): Identity => ({
  ...hostIdentity(env.env_id),
  type: "service-key",
  id,
  permissions: fullPermissions
})
const asKey = <A, E, R>(env: Env, id: string, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Caller, keyOf(env, id))

describe("Repl", () => {
  check("keeps variables between inputs, each a stored run of the type `repl`", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      yield* asHost(env, input(repl_id, "const rate = 0.2"))
      const end = yield* asHost(env, input(repl_id, "rate * 100"))
      assert.deepInclude(end, { text: "20", ended: null })
      const { run_type, status, result, project_name } = end.run
      assert.deepStrictEqual([run_type, status, result, project_name], ["repl", "succeeded", "20", ""])
      const { items } = yield* asHost(
        env,
        Runs.use((runs) => runs.list({ limit: 10, offset: 0 }, { type: "repl" }))
      )
      assert.strictEqual(items.length, 2)
      assert.strictEqual(items[0]?.run_id, end.run.run_id)
    })
  )

  check("stores no value for a result that JSON cannot represent, and continues after an error", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      assert.strictEqual((yield* asHost(env, input(repl_id, "() => 1"))).run.result, "null")
      const failed = yield* asHost(env, input(repl_id, "missing + 1"))
      assert.strictEqual(failed.run.status, "failed")
      assert.strictEqual(failed.ended, null)
      assert.strictEqual((yield* asHost(env, input(repl_id, "1 + 1"))).text, "2")
    })
  )

  check("audits the opening and each input with the hash of its source, and stores no source", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      const { logs } = yield* asHost(env, input(repl_id, "'confidential'.length"))
      const audited = (action: "repl.open" | "repl.input") =>
        AuditLog.use((log) => log.listAll({ action }, { limit: 10, offset: 0 }))
      assert.strictEqual((yield* audited("repl.open")).items[0]?.details, JSON.stringify({ repl_id }))
      const details = (yield* audited("repl.input")).items[0]?.details ?? ""
      assert.match(details, /"source_sha256":"[0-9a-f]{64}","bytes":21\}$/)
      assert.strictEqual(logs[0]?.data, details)
    })
  )

  check("belongs to the credential that opened it, and acts with exactly its permissions", (env) =>
    Effect.gen(function* () {
      const other = yield* deployed("app", "other")
      const { repl_id } = yield* asKey(env, "one", open)
      const gone = "NotFound: There is no such session on this node"
      assert.include(yield* refusal(asKey(env, "two", input(repl_id, "1"))), gone)
      assert.include(yield* refusal(asKey(other, "one", input(repl_id, "1"))), gone)
      assert.include(
        yield* refusal(
          asKey(
            env,
            "two",
            Repl.use((repl) => repl.close(repl_id))
          )
        ),
        gone
      )
      assert.strictEqual((yield* asKey(env, "two", list)).total, 0)
      assert.strictEqual((yield* asKey(env, "one", list)).items[0]?.repl_id, repl_id)
      assert.include(yield* refusal(as(env.env_id, { "build:*": ["*"] })(open)), "Forbidden")
      const publish = "await svc.events.publish({ type: 'a', data: 1 })"
      const asPlain = as(env.env_id, { "eval:*": ["execute"] })
      const plain = yield* asPlain(open)
      assert.include((yield* asPlain(input(plain.repl_id, publish))).run.result, "Forbidden")
    })
  )

  check("ends after 10 idle minutes, and later requests name the reason", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      yield* TestClock.adjust("9 minutes")
      yield* asHost(env, input(repl_id, "const a = 1"))
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual((yield* asHost(env, input(repl_id, "a"))).text, "1")
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* asHost(env, list)).total, 0)
      assert.include(
        yield* refusal(asHost(env, input(repl_id, "a"))),
        "it was idle for 10 minutes, and its variables are gone"
      )
    })
  )

  check("ends after 4 hours, however often it is used", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      for (let times = 0; times < 26; times++) {
        yield* TestClock.adjust("9 minutes")
        yield* asHost(env, input(repl_id, "1"))
      }
      yield* TestClock.adjust("6 minutes")
      assert.include(yield* refusal(asHost(env, input(repl_id, "1"))), "it was open for 4 hours")
    })
  )

  check("evaluates one input at a time, and a closed one ends its input", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      const waiting = yield* Effect.forkChild(refusal(asHost(env, input(repl_id, "new Promise(() => {})"))))
      yield* settle
      assert.include(yield* refusal(asHost(env, input(repl_id, "1"))), "Busy: The session evaluates another input")
      assert.isTrue((yield* asHost(env, list)).items[0]?.busy)
      yield* asHost(
        env,
        Repl.use((repl) => repl.close(repl_id))
      )
      assert.include(yield* Fiber.join(waiting), "it was closed, and its variables are gone")
    })
  )

  check("fails an input at its timeout, and stays open", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      const slow = Repl.use((repl) => repl.input(repl_id, { source: "new Promise(() => {})", timeout: 2 }))
      const fiber = yield* Effect.forkChild(asHost(env, slow))
      // The hash of the source takes real time.
      while ((yield* allRuns(env)).length === 0) yield* settle
      yield* TestClock.adjust("2 seconds")
      assert.include((yield* Fiber.join(fiber)).run.result, "TimedOut")
      assert.strictEqual((yield* asHost(env, input(repl_id, "1"))).text, "1")
    })
  )

  check(
    "is limited by the plan",
    (env) =>
      Effect.gen(function* () {
        const first = yield* asHost(env, open)
        yield* asHost(env, open)
        const full = "PlanRequired: The plan allows 2 open sessions"
        assert.include(yield* refusal(asHost(env, open)), full)
        yield* asHost(
          env,
          Repl.use((repl) => repl.close(first.repl_id))
        )
        const { repl_id } = yield* asHost(env, open)
        assert.include(yield* refusal(asHost(env, input(repl_id, "'too long'"))), "BadRequest: source has 10 bytes")
      }),
    { "Self-Host": { max_repl_sessions: 2, max_eval_source_bytes: 9 } }
  )

  check("completes names, and rejects invalid input without a run", (env) =>
    Effect.gen(function* () {
      const { repl_id } = yield* asHost(env, open)
      yield* asHost(env, input(repl_id, "const total = 1"))
      const completion = yield* asHost(
        env,
        Repl.use((repl) => repl.complete(repl_id, { source: "1 + to", cursor: 6 }))
      )
      assert.deepStrictEqual(completion, { from: 4, candidates: ["total"] })
      assert.include(yield* refusal(asHost(env, input(repl_id, "1 +"))), "Unexpected end of the input")
      assert.strictEqual((yield* asHost(env, list)).items[0]?.inputs, 1)
    })
  )

  it.effect("ends with the isolate that had its variables", () => {
    const outcomes: Array<string> = []
    const losing = Layer.effect(
      Sandbox,
      Effect.map(Sandbox, (inner) =>
        Sandbox.of({
          ...inner,
          invoke: (invocation) =>
            invocation.fn.ns === sessionNamespace && invocation.fn.var === "input"
              ? Effect.map(inner.invoke(invocation), (execution) => ({
                  ...execution,
                  outcome: { _tag: "Returned", output: outcomes.shift() ?? "" } as const
                }))
              : inner.invoke(invocation)
        })
      )
    ).pipe(Layer.provide(trustedSandbox(modules)))
    return Effect.provide(
      Effect.gen(function* () {
        const env = yield* deployed("app")
        for (const [output, reason] of [
          ['{"lost":true}', "its memory was needed"],
          ['"forged"', "its code changed the program"],
          ['{"text":"","json":"{"}', "its code changed the program"]
        ] as const) {
          const { repl_id } = yield* asHost(env, open)
          outcomes.push(output)
          const end = yield* asHost(env, input(repl_id, "1"))
          assert.include(end.ended, reason)
          assert.include(end.run.result, "The session ended with its variables")
          assert.include(yield* refusal(asHost(env, input(repl_id, "1"))), reason)
        }
      }),
      world(modules, {}, losing)
    )
  })
})
