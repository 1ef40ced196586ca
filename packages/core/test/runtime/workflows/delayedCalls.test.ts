/** Requests of durable functions that reach the store after the report of idleness that follows them. */
import { assert, describe, it } from "@effect/vitest"
import { Runs, layer as weft } from "@weft/core"
import { type HostCall, type Invocation, Sandbox } from "@weft/core/adapter"
import { MemoryStores, type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { asHost, deployed, immediateTurns, masterKeys } from "../../world.ts"
import { begin, durable, pass, runOf } from "./DurableFunction.ts"

/** A Weft in memory whose host calls `workflow.wait` of these names are delayed, as by the rate of a plan. */
const delaying = (functions: TrustedModule[string], names: ReadonlyArray<string>) => {
  const delay = ({ op, payload }: HostCall): boolean =>
    op === "workflow.wait" && names.some((name) => payload.includes(`"${name}"`))
  const sandbox = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const inner = yield* Sandbox
      const invoke: typeof inner.invoke = (invocation: Invocation) =>
        inner.invoke({
          ...invocation,
          onHostCall: (call) => {
            const answer = invocation.onHostCall(call)
            return delay(call) ? Effect.andThen(Effect.sleep("5 millis"), answer) : answer
          }
        })
      return Sandbox.of({ ...inner, invoke })
    })
  ).pipe(Layer.provide(trustedSandbox({ shop: { main: functions } })))
  return weft({ masterKeys }).pipe(Layer.provideMerge(MemoryStores.layer), Layer.provide([sandbox, immediateTurns]))
}

describe("a delayed request of a durable function", () => {
  const nap = durable("nap", (_, svc) => svc.sleep("short", "100ms"))
  it.effect("ends a short sleep", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "nap")
      yield* pass("1 second")
      assert.strictEqual((yield* runOf(env, id)).status, "succeeded")
    }).pipe(Effect.provide(delaying({ nap }, ["short"])))
  )

  const both = durable("both", (_, svc) =>
    Promise.all([svc.sleep("long", "1h"), svc.waitForEvent("paid", { event: "paid", timeout: "2h" })])
  )
  it.effect("is stored before its run is suspended", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const id = yield* begin(env, "both")
      const { run_id, waiting } = yield* runOf(env, id)
      assert.deepInclude(JSON.parse(waiting ?? "{}"), { name: "long" })
      const { waits } = yield* asHost(
        env,
        Runs.use((runs) => runs.steps(run_id, { limit: 10, offset: 0 }))
      )
      assert.deepStrictEqual(
        waits.map(({ name }) => name),
        ["long", "paid"]
      )
    }).pipe(Effect.provide(delaying({ both }, ["paid"])))
  )
})
