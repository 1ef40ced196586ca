/** More simultaneous builds than fit into the memory of a runner. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { runnerPids } from "./RunnerPids.ts"
import { createTenant, prepareTenant, type Tenant } from "./Tenant.ts"

const script = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let calls = 0
export const count = () => ++calls
export const nap = async (ms) => { await sleep(ms); return ++calls }
`

const withSandbox = <A, E>(options: Parameters<typeof sandbox>[0], body: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(body, sandbox({ runners: 1, ...options }))

/** Returns this number of builds with the same code. */
const tenants = Effect.fnUntraced(function* (count: number) {
  const sandbox = yield* Sandbox
  const { artifact } = yield* prepareTenant(1, script)
  return Array.from({ length: count }, (_, index) => createTenant(sandbox, 1 + index, artifact))
})

const nap = (tenant: Tenant, ms: number) =>
  Effect.map(tenant.call("nap", { svc: { event: ms, run: {} }, timeoutMs: 30_000 }), ({ outcome }) => outcome)

const outputs = (outcomes: ReadonlyArray<{ readonly _tag: string; readonly output?: string }>) =>
  outcomes.map(({ _tag, output }) => output ?? _tag)

describe("a runner without memory for all builds", () => {
  it.live("alternates between builds, each with all its runs", () =>
    withSandbox(
      { isolatesPerRunner: 3 },
      Effect.gen(function* () {
        const many = yield* tenants(12)
        const calls = [...many, ...many].map((tenant) => nap(tenant, 50))
        const outcomes = yield* Effect.all(calls, { concurrency: "unbounded" })
        // Both runs of a build are in the same isolate: it was not disposed between them.
        assert.deepStrictEqual(outputs(outcomes).sort(), [...Array(12).fill("1"), ...Array(12).fill("2")])
      })
    )
  )

  it.live("is not killed by the memory of many busy builds", () =>
    withSandbox(
      { rssBytes: 300 * 1024 * 1024 },
      Effect.gen(function* () {
        const many = yield* tenants(60)
        // By then the process that prepared the bundle has ended.
        yield* Effect.all(many.slice(0, 1).map((tenant) => nap(tenant, 500)))
        const before = runnerPids()
        const outcomes = yield* Effect.all(
          many.map((tenant) => nap(tenant, 200)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(outputs(outcomes), ["2", ...Array(59).fill("1")])
        assert.includeMembers([...runnerPids()], [...before])
      })
    )
  )

  it.live("admits another build next to a build that is never idle", () =>
    withSandbox(
      { isolatesPerRunner: 1 },
      Effect.gen(function* () {
        const [busy, other] = yield* tenants(2)
        if (busy === undefined || other === undefined) return assert.fail("There are two")
        const stream = (): Effect.Effect<void> => Effect.flatMap(nap(busy, 30), () => Effect.suspend(stream))
        const streams = yield* Effect.all(
          Array.from({ length: 4 }, () => Effect.forkChild(stream())),
          { concurrency: 1 }
        )
        yield* Effect.sleep("100 millis")
        const { outcome } = yield* other.call("count")
        assert.strictEqual(outcome._tag, "Returned")
        yield* Fiber.interruptAll(streams)
      })
    )
  )

  it.live("continues a build whose long runs keep its place", () =>
    withSandbox(
      { isolatesPerRunner: 1 },
      Effect.gen(function* () {
        const [long, other] = yield* tenants(2)
        if (long === undefined || other === undefined) return assert.fail("There are two")
        const slept = yield* Effect.forkChild(nap(long, 6_000))
        yield* Effect.sleep("1200 millis")
        const waits = yield* Effect.forkChild(other.call("count"))
        yield* Effect.sleep("100 millis")
        // Its quantum has ended, but no other build can take its place.
        assert.strictEqual((yield* long.call("count")).outcome._tag, "Returned")
        assert.strictEqual((yield* Fiber.join(slept))._tag, "Returned")
        assert.strictEqual((yield* Fiber.join(waits)).outcome._tag, "Returned")
      })
    )
  )
})
