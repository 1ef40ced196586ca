/** `svc.call`: what of it reaches the host. */
import { assert, layer } from "@effect/vitest"
import type { HostCall } from "@weft/core"
import { Effect } from "effect"
import { isolated } from "../src/index.ts"
import { tenantOf } from "./Tenant.ts"

const script = `
export const lists = async (event, svc) => svc.call("main/add", [1, 2])
export const one = async (event, svc) => svc.call("shop:main/add", { a: [3] })
export const none = async (event, svc) => svc.call("main/add")
export const nothing = async (event, svc) => svc.call(7)
`

layer(isolated({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("svc.call", (it) => {
  it.effect("asks the host with a list of args, whether it was given a list, one or none", () =>
    Effect.gen(function* () {
      const tenant = yield* tenantOf(41, script)
      const seen: Array<HostCall> = []
      const onHostCall = (call: HostCall) =>
        Effect.sync(() => {
          seen.push(call)
          return '{"event_id":"e1"}'
        })
      for (const fn of ["lists", "one", "none"]) {
        const { outcome } = yield* tenant.call(fn, { onHostCall })
        assert.deepStrictEqual(outcome, { _tag: "Returned", output: '{"event_id":"e1"}' })
      }
      assert.deepStrictEqual(seen, [
        { op: "call", payload: '{"fn":"main/add","args":[1,2]}' },
        { op: "call", payload: '{"fn":"shop:main/add","args":[{"a":[3]}]}' },
        { op: "call", payload: '{"fn":"main/add","args":[]}' }
      ])
      assert.include((yield* tenant.call("nothing", { onHostCall })).outcome, { _tag: "Threw", name: "BadRequest" })
    })
  )
})
