/** The host calls of durable functions. */
import { assert, layer } from "@effect/vitest"
import type { HostCall } from "@weft/core/adapter"
import { Deferred, Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { makeId, prepareTenant } from "./Tenant.ts"

const script = `
export const steps = async (event, svc) => {
  for (let n = 0; n < 3; n++) await svc.step("step", () => n)
  return svc.waitForEvent("paid", { event: "paid" })
}
export const fails = (event, svc) => svc.step("step", () => { throw new RangeError("no") })
export const versioned = async (event, svc) => {
  const first = await svc.version("form", 2).catch((error) => error.name)
  return [first, await svc.version("form", 2)]
}
export const mixed = (event, svc) => Promise.all([svc.step("step", () => 1), svc.sleep("pause", "1h")])
`

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("a durable function", (it) => {
  const svc = { event: null, run: { run_id: makeId(1) }, durable: { recorded: [], waits: [], time: 1 } }

  /** Runs a function whose requests are answered some time later, waits last. Returns the operations that it called. */
  const operationsOf = (fn: string) =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(45, script)
      const seen: Array<string> = []
      const onHostCall = ({ op, payload }: HostCall) =>
        Effect.gen(function* () {
          // It is pending until the run is cancelled.
          if (op === "workflow.cancellation") return yield* Effect.never
          seen.push(op)
          if (op === "workflow.idle") return ""
          const { seq }: { readonly seq: number } = JSON.parse(payload.split("\n")[0] ?? "")
          yield* Effect.sleep(op === "workflow.step" ? "30 millis" : "100 millis")
          return `[${seq},true,2,null]`
        })
      const { outcome } = yield* tenant.call(fn, { svc, onHostCall })
      assert.strictEqual(outcome._tag, "Returned")
      return seen
    })

  it.effect("makes one host call for each successful step, and is idle when only waits remain", () =>
    Effect.gen(function* () {
      const steps = ["workflow.step", "workflow.step", "workflow.step"]
      assert.deepStrictEqual(yield* operationsOf("steps"), [...steps, "workflow.wait", "workflow.idle"])
      assert.deepStrictEqual(yield* operationsOf("mixed"), ["workflow.wait", "workflow.step", "workflow.idle"])
    })
  )

  it.effect("is cancelled while it asks for a version, and asks again in its cleanup", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(45, script)
      const asked = yield* Deferred.make<void>()
      const onHostCall = ({ op, payload }: HostCall) =>
        Effect.gen(function* () {
          if (op === "workflow.cancellation") {
            yield* Deferred.await(asked)
            return `[-1,false,2,{"name":"Cancelled","message":"The run was cancelled","stack":""}]`
          }
          const { seq }: { readonly seq: number } = JSON.parse(payload)
          yield* Deferred.succeed(asked, undefined)
          yield* Effect.sleep("100 millis")
          return `[${seq},true,3,2]`
        })
      const { outcome } = yield* tenant.call("versioned", { svc, onHostCall, timeoutMs: 5_000 })
      assert.deepInclude(outcome, { _tag: "Returned", output: '["Cancelled",2]' })
    })
  )

  it.effect("is idle after a failed step, which the host may repeat later", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* operationsOf("fails"), ["workflow.step", "workflow.idle"])
    })
  )
})
