/** `svc.call`: the host calls that it makes. */
import { assert, layer } from "@effect/vitest"
import type { HostCall } from "@weft/core/adapter"
import { Deferred, Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
export const lists = async (event, svc) => svc.call("main/add", [1, 2])
export const one = async (event, svc) => svc.call("shop:main/add", { a: [3] })
export const none = async (event, svc) => svc.call("main/add")
export const nothing = async (event, svc) => svc.call(7)
export const large = async (event, svc) => {
  const counts = []
  for (let n = 0; n < 4; n++) {
    counts.push(svc.call("main/add", ["x".repeat(1_000_000)]).then(() => "done", ({ name }) => (svc.log.warn(name), name)))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return Promise.all(counts)
}
`

const MiB = 2 ** 20

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("svc.call", (it) => {
  it.effect("sends a list of arguments for a list, a single argument or none", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(41, script)
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

  it.effect("fails when pending calls of the build hold too much of the host's memory", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(42, script)
      const release = yield* Deferred.make<void>()
      const counts = { waiting: 0, most: 0, calls: 0, refusals: 0 }
      const onHostCall = ({ payload }: HostCall) =>
        Effect.gen(function* () {
          counts.calls++
          counts.waiting += payload.length
          counts.most = Math.max(counts.most, counts.waiting)
          yield* Deferred.await(release)
          counts.waiting -= payload.length
          return "null"
        })
      const onLog = () => void counts.refusals++
      const large = tenant.call("large", { onHostCall, onLog, timeoutMs: 30_000 })
      const runs = []
      // Sequentially: the isolate cannot hold all of them at once.
      for (let n = 1; counts.refusals === 0 && n < 100; n++) {
        runs.push(yield* Effect.forkChild(large))
        while (counts.calls + counts.refusals < 4 * n) yield* Effect.sleep("5 millis")
      }
      yield* Deferred.succeed(release, undefined)
      const ended = yield* Fiber.joinAll(runs)
      const outputs = ended.flatMap(({ outcome }) => (outcome._tag === "Returned" ? JSON.parse(outcome.output) : []))
      assert.deepStrictEqual(new Set(outputs), new Set(["done", "LimitExceeded"]))
      assert.isAtMost(counts.most, 128 * MiB)
      assert.isAtLeast(counts.most, 120 * MiB)
      // Finished calls release their memory.
      const again = yield* large
      assert.deepStrictEqual(again.outcome, { _tag: "Returned", output: '["done","done","done","done"]' })
    })
  )
})
