/** Calls host functions as the runtime does, for fake runs, in virtual time. */
import type { HostFunctions } from "@weft/core"
import { type HostCallRefused, NodeMetrics } from "@weft/core/adapter"
import { Cause, Effect, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { makeHostFunctionCalls } from "../../../../src/runtime/svc/HostFunctionCalls.ts"
import { hostTableLayer } from "../../../../src/runtime/svc/host/HostTable.ts"
import type { Identity } from "../../../../src/tenants/access/Caller.ts"
import { newEnv, services } from "../../../Services.ts"
import { makeRun } from "../Runs.ts"

export const world = Layer.merge(services(), NodeMetrics.layer)

/** Runs promises and fibers until they wait for the clock. */
export const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 5; turn++) {
    yield* TestClock.adjust(0)
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

/** Returns the outcome of the guest's promise: the reply, or `[name, message]` of its error. */
const toOutcome = (answer: Effect.Effect<string, HostCallRefused>) =>
  Effect.match(answer, {
    onFailure: ({ name, message }): string | ReadonlyArray<string> => [name, message],
    onSuccess: (text) => text
  })

/** Registers functions. `logged` has the lines of the host's log. */
export const makeFixture = Effect.fnUntraced(function* (functions: HostFunctions, slug = "acme") {
  const env = yield* newEnv(slug)
  const metrics = yield* NodeMetrics
  const logged: Array<string> = []
  const recorder = Logger.layer([
    Logger.make(({ message, cause, fiber }) => {
      const annotations = JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))
      logged.push(`${String(message)} ${annotations} ${Cause.pretty(cause)}`)
    })
  ])
  const calls = yield* Effect.provide(makeHostFunctionCalls, hostTableLayer(functions))

  const invoke = (name: string, payload = "", run = makeRun(env.env_id), caller: Identity | null = null) => {
    const answer = calls.answer(run, caller, { op: `host.${name}`, payload })
    if (answer === null) throw new Error(`${name} is not a host call`)
    return Effect.provide(toOutcome(answer), recorder)
  }
  return { env, metrics, logged, calls, invoke }
})
