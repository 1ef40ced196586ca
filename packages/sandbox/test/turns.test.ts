/** Turns of environments: host calls and ends of runs, in real runners. */
import { assert, describe, it } from "@effect/vitest"
import { defaultTurnLimits, type EventLoop, type HostCall, Turns, WorkScheduler } from "@weft/core/adapter"
import { Effect, Fiber, Latch } from "effect"
import { sandbox } from "../src/index.ts"
import type { Job } from "../src/supervisor/Job.ts"
import { startSupervisor } from "./fuzz/TestSupervisor.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
export const flood = async (event, svc) => {
  const calls = []
  for (let n = 0; n < 900; n++) calls.push(svc.call("main/flood", [n]))
  await Promise.all(calls)
}
export const gather = async (event, svc) => {
  const read = () => svc.call("main/read").then(() => "read")
  const calls = []
  for (let n = 0; n < 400; n++) calls.push(svc.call("main/large", [n]).then(read, ({ name }) => name))
  return Promise.all(calls)
}
export const single = async (event, svc) => svc.call("main/single")
export const forgotten = (event, svc) => {
  for (let n = 0; n < 500; n++) svc.call("main/forgotten", [n])
  return "returned"
}
export const refusals = async (event, svc) => {
  const calls = []
  for (let n = 0; n < 100; n++) calls.push(svc.call("main/refusals", [n]).then(() => "done", ({ name }) => name))
  return Promise.all(calls)
}
`

const node: EventLoop = {
  now: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms),
  afterTask: (callback) => queueMicrotask(callback)
}

const compute = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe("host calls in turns", { timeout: 60_000 }, () => {
  it.live("serves a neighbour in the same runner while most calls of a flood still wait", () =>
    Effect.gen(function* () {
      const [attacker, neighbour] = [yield* prepareTenant(51, script), yield* prepareTenant(52, script)]
      yield* neighbour.call("single")
      let calls = 0
      const onHostCall = () =>
        Effect.sync(() => {
          calls++
          compute(1)
          return "null"
        })
      const flood = attacker.call("flood", { onHostCall, timeoutMs: 60_000 })
      const floods = yield* Effect.forkChild(Effect.all([flood, flood, flood, flood], { concurrency: 4 }))
      while (calls === 0) yield* Effect.sleep("1 millis")
      assert.strictEqual((yield* neighbour.call("single")).outcome._tag, "Returned")
      const callsBefore = calls
      assert.isBelow(callsBefore, (4 * 900) / 2)
      const ended = yield* Fiber.join(floods)
      assert.deepStrictEqual(new Set(ended.map(({ outcome }) => outcome._tag)), new Set(["Returned"]))
      assert.strictEqual(calls, 4 * 900)
    }).pipe(Effect.provide(sandbox({ runners: 1 })))
  )

  it.live("executes the calls of a run in their order, and before the end of the run", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(53, script)
      const seen: Array<unknown> = []
      const onHostCall = ({ payload }: HostCall) =>
        Effect.sync(() => {
          seen.push(JSON.parse(payload).args[0])
          compute(0.1)
          return "null"
        })
      const { outcome } = yield* tenant.call("forgotten", { onHostCall })
      assert.deepStrictEqual(outcome, { _tag: "Returned", output: '"returned"' })
      assert.deepStrictEqual(seen, [...Array(500).keys()])
    }).pipe(Effect.provide(sandbox({ runners: 1 })))
  )

  it.live("refuses the calls of an environment with too many of them waiting, and no others", () => {
    const turns = new WorkScheduler(node, { ...defaultTurnLimits, queuedPerKey: 10 })
    return Effect.gen(function* () {
      const [attacker, neighbour] = [yield* prepareTenant(54, script), yield* prepareTenant(55, script)]
      const onHostCall = () =>
        Effect.sync(() => {
          compute(5)
          return "null"
        })
      const attack = yield* Effect.forkChild(attacker.call("refusals", { onHostCall }))
      const { outcome: served } = yield* neighbour.call("single")
      assert.strictEqual(served._tag, "Returned")
      const { outcome } = yield* Fiber.join(attack)
      const results = outcome._tag === "Returned" ? JSON.parse(outcome.output) : []
      assert.deepStrictEqual(new Set(results), new Set(["done", "LimitExceeded"]))
      // Refused calls are not pending any more.
      const { outcome: later } = yield* attacker.call("single")
      assert.strictEqual(later._tag, "Returned")
    }).pipe(Effect.provide(sandbox({ runners: 1 })), Effect.provideService(Turns, turns))
  })

  it.live("serves a neighbour while large answers wait, and refuses those above the limit of the build", () =>
    Effect.gen(function* () {
      const [attacker, neighbour] = [yield* prepareTenant(56, script), yield* prepareTenant(57, script)]
      yield* neighbour.call("single")
      const answer = JSON.stringify("x".repeat(200_000))
      const allStarted = yield* Latch.make()
      let started = 0
      let reads = 0
      const onHostCall = Effect.fnUntraced(function* ({ payload }: HostCall) {
        if (!payload.includes("main/large")) {
          reads++
          return "null"
        }
        if (++started === 400) yield* allStarted.open
        yield* allStarted.await
        return answer
      })
      const gathering = yield* Effect.forkChild(attacker.call("gather", { onHostCall }))
      yield* allStarted.await
      assert.strictEqual((yield* neighbour.call("single")).outcome._tag, "Returned")
      assert.isBelow(reads, 200)
      const { outcome } = yield* Fiber.join(gathering)
      const results: ReadonlyArray<string> = outcome._tag === "Returned" ? JSON.parse(outcome.output) : []
      assert.deepStrictEqual(new Set(results), new Set(["read", "LimitExceeded"]))
      assert.strictEqual(results.filter((result) => result === "read").length, reads)
      // The limit counts only answers that wait.
      assert.strictEqual((yield* attacker.call("single")).outcome._tag, "Returned")
    }).pipe(Effect.provide(sandbox({ runners: 1 })))
  )

  it("keeps the result of a run whose runner dies before the turn of that result", async () => {
    const waiting: Array<() => void> = []
    const turns = new WorkScheduler({ ...node, nextTurn: (callback) => void waiting.push(callback) })
    const world = startSupervisor(turns)
    try {
      turns.run("other", "request", () => compute(defaultTurnLimits.turnBudgetMs + 1))
      const called = world.call("good")
      const isReported = ({ endMessage }: Job): boolean => endMessage !== undefined
      const views = () => [...world.pool.views.values()]
      while (!views().some(({ jobs }) => jobs.values().some(isReported))) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      for (const { runner } of views()) runner.kill("the test kills it")
      const { execution } = await called
      assert.deepInclude(execution, { outcome: { _tag: "Returned", output: '"pong"' } })
    } finally {
      world.close()
    }
  })
})
