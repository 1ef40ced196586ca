import { execFileSync, spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { setPriority } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { type Outcome, Sandbox } from "@weft/core"
import { Effect, Fiber } from "effect"
import { isolated } from "../src/index.ts"
import { runnerPids } from "./RunnerPids.ts"
import { type Tenant, tenantOf } from "./Tenant.ts"

const MiB = 1024 * 1024

const script = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let calls = 0
export const count = () => ++calls
export const slow = async () => { await sleep(300); return "done" }
export const slowTouched = async (event, svc) => { svc.log.info("begun"); await sleep(2000); return "done" }
export const uninterruptible = () => new Array(2 ** 27).fill(0).length
export const aborts = () => "xy".repeat(2.5e8).split("").length
export const growsMap = () => { const map = new Map(); for (;;) map.set({}, {}) }
export const outgrows = () => "\\u00e9".repeat(2e8).normalize("NFD").length + "\\u00e9".repeat(2.1e8).normalize("NFD").length
export const spins = () => { for (;;); }
export const works = (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += Math.sqrt(i); return sum > 0 }
`

/** Leaves the processes one processor, on which another goes first, for the life of the scope. */
const starved = (pids: ReadonlyArray<number>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const pid of pids) execFileSync("taskset", ["-a", "-p", "-c", "0", String(pid)])
      for (const thread of pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`))) setPriority(Number(thread), 15)
      return spawn("taskset", ["-c", "0", process.execPath, "-e", "for (;;);"])
    }),
    (other) => Effect.sync(() => void other.kill("SIGKILL"))
  )

const tagOf = (tenant: Tenant, fn: string) => Effect.map(tenant.call(fn), ({ outcome }) => outcome._tag)

/** The system takes a moment to end what was killed. */
const allGone = Effect.gen(function* () {
  while (runnerPids().length > 0) yield* Effect.sleep("20 millis")
})

const outputOf = (outcome: Outcome) => (outcome._tag === "Returned" ? outcome.output : JSON.stringify(outcome))

const withSandbox = <A, E>(options: Parameters<typeof isolated>[0], body: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(body, isolated({ runners: 2, ...options }))

describe("the police", () => {
  it.live("runs untouched runs again when a runner is killed, and says so of the others", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const tenant = yield* tenantOf(1, script)
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
        const slow = yield* Effect.forkChild(tenant.call("slow"))
        const touched = yield* Effect.forkChild(tenant.call("slowTouched"))
        yield* Effect.sleep("100 millis")
        for (const pid of runnerPids()) process.kill(pid, "SIGKILL")
        assert.strictEqual(outputOf((yield* Fiber.join(slow)).outcome), '"done"')
        assert.strictEqual((yield* Fiber.join(touched)).outcome._tag, "RunnerLost")
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
      })
    )
  )

  it.live("does not take the host's own lag for a runner's silence", () =>
    withSandbox(
      { runners: 1, heartbeatMs: 500 },
      Effect.gen(function* () {
        const tenant = yield* tenantOf(10, script)
        yield* tenant.call("count")
        const before = runnerPids()
        const until = performance.now() + 1_500
        while (performance.now() < until);
        yield* Effect.sleep("200 millis")
        assert.includeMembers([...runnerPids()], [...before])
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
      })
    )
  )

  // Elsewhere nothing tells who waits for a processor.
  it.live.skipIf(process.platform !== "linux")(
    "does not take a machine without a free processor for a loop, nor for silence",
    () =>
      withSandbox(
        { runners: 1, heartbeatMs: 400, limits: { cpuSliceMs: 400 } },
        Effect.gen(function* () {
          const tenant = yield* tenantOf(11, script)
          const works = (event: number) => tenant.call("works", { timeoutMs: 60_000, svc: { event, run: {} } })
          // Until it is compiled for good: there is no time for that later.
          const taken = yield* Effect.replicateEffect(works(2e6), 30)
          const fastestMs = Math.min(...taken.map(({ usage }) => usage.wall_ms))
          const before = runnerPids()
          yield* starved(before)
          const { outcome, usage } = yield* works(2e6 * Math.ceil(50 / fastestMs))
          assert.strictEqual(outcome._tag, "Returned")
          assert.isAbove(usage.wall_ms, 400)
          assert.includeMembers([...runnerPids()], [...before])
        }).pipe(Effect.scoped)
      )
  )

  it.live("keeps runner and isolates through a long stream of large calls", () =>
    withSandbox(
      { runners: 1 },
      Effect.gen(function* () {
        const tenant = yield* tenantOf(9, script)
        yield* tenant.call("count")
        const before = runnerPids()
        // More than the runner's heap and the isolate's buffers would hold, if either kept what went through.
        const call = tenant.call("count", { svc: { event: "x".repeat(16_384), run: {} } })
        const outcomes = yield* Effect.all(
          Array.from({ length: 20_000 }, () => Effect.map(call, ({ outcome }) => outcome._tag)),
          { concurrency: 32 }
        )
        assert.deepStrictEqual([...new Set(outcomes)], ["Returned"])
        assert.includeMembers([...runnerPids()], [...before])
      })
    )
  )

  it.live("puts a build under quarantine when it made two runners unusable, until it is pardoned", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const attacker = yield* tenantOf(2, script)
        const neighbour = yield* tenantOf(3, script)
        assert.strictEqual(yield* tagOf(attacker, "uninterruptible"), "CpuExhausted")
        yield* Effect.sleep("1500 millis")
        assert.strictEqual(yield* tagOf(attacker, "uninterruptible"), "CpuExhausted")
        yield* Effect.sleep("1500 millis")
        assert.strictEqual(yield* tagOf(attacker, "count"), "Quarantined")
        assert.strictEqual(yield* tagOf(neighbour, "count"), "Returned")
        yield* sandbox.pardon(attacker.buildId)
        assert.strictEqual(yield* tagOf(attacker, "count"), "Returned")
      })
    )
  )

  it.live("blames whoever was computing when a runner died by itself", () =>
    withSandbox(
      { strikes: 1, limits: { cpuSliceMs: 10_000 } },
      Effect.gen(function* () {
        const attacker = yield* tenantOf(4, script)
        const neighbours = yield* Effect.forEach([5, 6, 7, 8], (number) => tenantOf(number, script))
        yield* Effect.forEach(neighbours, (neighbour) => tagOf(neighbour, "count"))
        const waiting = yield* Effect.forkChild(
          Effect.all(
            neighbours.map((neighbour) => neighbour.call("slow")),
            { concurrency: "unbounded" }
          )
        )
        assert.strictEqual(yield* tagOf(attacker, "aborts"), "RunnerLost")
        assert.strictEqual(yield* tagOf(attacker, "count"), "Quarantined")
        const results = yield* Fiber.join(waiting)
        assert.deepStrictEqual(
          results.map(({ outcome }) => outputOf(outcome)),
          Array(4).fill('"done"')
        )
      })
    )
  )

  it.live("ends what outgrows its heap or its runner's memory", () =>
    withSandbox(
      { rssBytes: 400 * MiB, strikes: 100, limits: { heapBytes: 32 * MiB, cpuSliceMs: 5000 } },
      Effect.gen(function* () {
        const tenant = yield* tenantOf(9, script)
        assert.strictEqual(yield* tagOf(tenant, "growsMap"), "OutOfMemory")
        assert.strictEqual(yield* tagOf(tenant, "outgrows"), "OutOfMemory")
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
      })
    )
  )

  it.live("refuses work beyond the bounds of the queue, and no other", () =>
    withSandbox(
      { waitingPerBuild: 5, limits: { concurrentRuns: 3 } },
      Effect.gen(function* () {
        const tenant = yield* tenantOf(10, script)
        const exits = yield* Effect.all(
          Array.from({ length: 12 }, () => Effect.exit(tenant.call("slow"))),
          { concurrency: "unbounded" }
        )
        const done = exits.filter((exit) => exit._tag === "Success")
        assert.strictEqual(done.length, 8)
      })
    )
  )

  it.live("keeps others answering while many builds compute", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const neighbour = yield* tenantOf(11, script)
        const attackers = yield* Effect.forEach([12, 13, 14, 15, 16, 17], (number) => tenantOf(number, script))
        yield* tagOf(neighbour, "count")
        const attack = yield* Effect.forkChild(
          Effect.all(
            attackers.map((attacker) => tagOf(attacker, "spins")),
            { concurrency: "unbounded" }
          )
        )
        const waits: Array<number> = []
        while (attack.pollUnsafe() === undefined) {
          const { outcome, usage } = yield* neighbour.call("count")
          assert.strictEqual(outcome._tag, "Returned")
          waits.push(usage.wall_ms)
          yield* Effect.sleep("5 millis")
        }
        assert.deepStrictEqual(yield* Fiber.join(attack), Array(6).fill("CpuExhausted"))
        assert.isAbove(waits.length, 5)
      })
    )
  )

  it.live("starts one runner, and the others and a spare one when there is work", () =>
    Effect.andThen(
      allGone,
      withSandbox(
        { runners: 2 },
        Effect.gen(function* () {
          assert.strictEqual(runnerPids().length, 1)
          yield* tagOf(yield* tenantOf(19, script), "count")
          while (runnerPids().length < 3) yield* Effect.sleep("20 millis")
          yield* Effect.sleep("300 millis")
          assert.strictEqual(runnerPids().length, 3)
        })
      )
    )
  )

  it.live("leaves no process behind", () =>
    Effect.gen(function* () {
      yield* withSandbox(
        {},
        Effect.gen(function* () {
          yield* tagOf(yield* tenantOf(18, script), "count")
          assert.isAtLeast(runnerPids().length, 1)
        })
      )
      yield* allGone
    })
  )
})
