import { execFileSync, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setPriority } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { type Outcome, Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { runnerPids } from "./RunnerPids.ts"
import { prepareTenant, type Tenant } from "./Tenant.ts"

const MiB = 1024 * 1024

const script = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let calls = 0
export const count = () => ++calls
const kept = []
export const waits = async () => { await sleep(3000); return "done" }
export const grows = async () => { for (;;) { kept.push(Array(2e5).fill(kept.length)); await sleep(5) } }
export const slow = async () => { await sleep(300); return "done" }
export const slowTouched = async (event, svc) => { svc.log.info("started"); await sleep(2000); return "done" }
export const uninterruptible = () => new Array(2 ** 27).fill(0).length
export const aborts = () => "xy".repeat(2.5e8).split("").length
export const growsMap = () => { const map = new Map(); for (;;) map.set({}, {}) }
export const outgrows = () => "\\u00e9".repeat(2e8).normalize("NFD").length + "\\u00e9".repeat(2.1e8).normalize("NFD").length
export const spins = () => { for (;;); }
export const works = (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += Math.sqrt(i); return sum > 0 }
`

/** Restricts the processes to one processor that a process of higher priority uses, during the scope. */
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

/** Waits for the end of killed processes. */
const allGone = Effect.gen(function* () {
  while (runnerPids().length > 0) yield* Effect.sleep("20 millis")
})

/** Returns the resident memory of the largest runner. */
const largestRssBytes = (): number =>
  Math.max(
    ...runnerPids().map(
      (pid) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024
    )
  )

const outputOf = (outcome: Outcome) => (outcome._tag === "Returned" ? outcome.output : JSON.stringify(outcome))

const withSandbox = <A, E>(options: Parameters<typeof sandbox>[0], body: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(body, sandbox({ runners: 2, ...options }))

describe("the watchdog", () => {
  it.live("retries runs without side effects when a runner is killed, and reports the others as lost", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
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

  it.live("does not blame builds that only wait when runners are killed from outside", () =>
    withSandbox(
      { runners: 1, strikes: 1 },
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const tenant = yield* prepareTenant(21, script)
        yield* tenant.call("count")
        for (const signal of ["SIGKILL", "SIGSTOP", "SIGKILL"] as const) {
          const waiting = yield* Effect.forkChild(tenant.call("waits"))
          // On a busy machine, the isolate is still loading before this.
          yield* Effect.sleep("1200 millis")
          for (const pid of runnerPids()) process.kill(pid, signal)
          assert.strictEqual(outputOf((yield* Fiber.join(waiting)).outcome), '"done"')
        }
        const { runnerDeaths, quarantined } = yield* sandbox.status
        assert.strictEqual(quarantined, 0)
        assert.isAtLeast(runnerDeaths.get("killed") ?? 0, 2)
        assert.isAtLeast(runnerDeaths.get("silent") ?? 0, 1)
      })
    )
  )

  it.live("blames a build that computes, or whose memory grows, when its runner is killed from outside", () =>
    Effect.forEach(
      ["spins", "grows"],
      (fn) =>
        withSandbox(
          { runners: 1, strikes: 1, limits: { cpuSliceMs: 10_000, heapBytes: 512 * MiB } },
          Effect.gen(function* () {
            const sandbox = yield* Sandbox
            const tenant = yield* prepareTenant(22, script)
            yield* tenant.call("count")
            const attack = yield* Effect.forkChild(tenant.call(fn))
            if (fn === "spins") yield* Effect.sleep("300 millis")
            else while (largestRssBytes() < 250 * MiB) yield* Effect.sleep("10 millis")
            for (const pid of runnerPids()) process.kill(pid, "SIGKILL")
            yield* Fiber.join(attack)
            const { env_id, build_id, reason, strikes } = yield* sandbox.nextQuarantine
            assert.deepStrictEqual([build_id, env_id.slice(-2), strikes], [tenant.buildId, "16", 1])
            assert.strictEqual(reason, "it ended with SIGKILL")
            assert.strictEqual((yield* sandbox.status).quarantined, 1)
            assert.strictEqual(yield* tagOf(tenant, "count"), "Quarantined")
          })
        ),
      { discard: true }
    )
  )

  it.live("ends a quarantine when its strikes expire", () =>
    withSandbox(
      { runners: 1, strikes: 1, strikeMs: 1500, limits: { cpuSliceMs: 10_000 } },
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const tenant = yield* prepareTenant(23, script)
        yield* tenant.call("count")
        const attack = yield* Effect.forkChild(tenant.call("spins"))
        yield* Effect.sleep("300 millis")
        for (const pid of runnerPids()) process.kill(pid, "SIGKILL")
        yield* Fiber.join(attack)
        assert.strictEqual(yield* tagOf(tenant, "count"), "Quarantined")
        yield* Effect.sleep("1600 millis")
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
        assert.strictEqual((yield* sandbox.status).quarantined, 0)
      })
    )
  )

  it.live("does not count the host's own delay as silence of a runner", () =>
    withSandbox(
      { runners: 1, heartbeatMs: 500 },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(10, script)
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

  // Other systems have no statistic of the time that a process waits for a processor.
  it.live.skipIf(process.platform !== "linux")("does not mistake a busy machine for a loop or for silence", () =>
    withSandbox(
      { runners: 1, heartbeatMs: 400, limits: { cpuSliceMs: 400 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(11, script)
        const works = (event: number) => tenant.call("works", { timeoutMs: 60_000, svc: { event, run: {} } })
        // Until it is fully optimized: later there is no time for that.
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

  it.live("keeps the runner and its isolates during many large calls", () =>
    withSandbox(
      { runners: 1 },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(9, script)
        yield* tenant.call("count")
        const before = runnerPids()
        // More than the runner's heap and the isolate's buffers, if either kept the messages.
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

  it.live("puts a build under quarantine after it blocked two runners, until the quarantine is cleared", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const attacker = yield* prepareTenant(2, script)
        const neighbour = yield* prepareTenant(3, script)
        assert.strictEqual(yield* tagOf(attacker, "uninterruptible"), "CpuExhausted")
        yield* Effect.sleep("1500 millis")
        assert.strictEqual(yield* tagOf(attacker, "uninterruptible"), "CpuExhausted")
        yield* Effect.sleep("1500 millis")
        assert.strictEqual(yield* tagOf(attacker, "count"), "Quarantined")
        assert.strictEqual(yield* tagOf(neighbour, "count"), "Returned")
        yield* sandbox.clearQuarantine(attacker.buildId)
        assert.strictEqual(yield* tagOf(attacker, "count"), "Returned")
      })
    )
  )

  it.live("gives the computing build a strike when a runner dies", () =>
    withSandbox(
      { strikes: 1, limits: { cpuSliceMs: 10_000 } },
      Effect.gen(function* () {
        const attacker = yield* prepareTenant(4, script)
        const neighbours = yield* Effect.forEach([5, 6, 7, 8], (number) => prepareTenant(number, script))
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

  it.live("ends runs that exceed their heap or their runner's memory", () =>
    withSandbox(
      { rssBytes: 400 * MiB, strikes: 100, limits: { heapBytes: 32 * MiB, cpuSliceMs: 5000 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(9, script)
        assert.strictEqual(yield* tagOf(tenant, "growsMap"), "OutOfMemory")
        assert.strictEqual(yield* tagOf(tenant, "outgrows"), "OutOfMemory")
        assert.strictEqual(yield* tagOf(tenant, "count"), "Returned")
      })
    )
  )

  it.live("rejects runs above the maximum of the queue, and no others", () =>
    withSandbox(
      { queuedPerBuild: 5, limits: { concurrentRuns: 3 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(10, script)
        const exits = yield* Effect.all(
          Array.from({ length: 12 }, () => Effect.exit(tenant.call("slow"))),
          { concurrency: "unbounded" }
        )
        const done = exits.filter((exit) => exit._tag === "Success")
        assert.strictEqual(done.length, 8)
      })
    )
  )

  it.live("keeps other builds responsive while many builds compute", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const neighbour = yield* prepareTenant(11, script)
        const attackers = yield* Effect.forEach([12, 13, 14, 15, 16, 17], (number) => prepareTenant(number, script))
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

  it.live("starts one runner first, and the others and a spare one at the first work", () =>
    Effect.andThen(
      allGone,
      withSandbox(
        { runners: 2 },
        Effect.gen(function* () {
          // A process that is being replaced by its program has no command line for a moment.
          while (runnerPids().length === 0) yield* Effect.sleep("20 millis")
          assert.strictEqual(runnerPids().length, 1)
          yield* tagOf(yield* prepareTenant(19, script), "count")
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
          yield* tagOf(yield* prepareTenant(18, script), "count")
          assert.isAtLeast(runnerPids().length, 1)
        })
      )
      yield* allGone
    })
  )
})
