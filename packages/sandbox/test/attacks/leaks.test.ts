/** Resources in the runner and in the host after many hostile runs: nothing may grow. */
import { readdirSync, readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { runnerPids } from "../RunnerPids.ts"
import { prepareTenant } from "../Tenant.ts"
import { generousSliceMs, harnessLayer, makeHarness } from "./AttackHarness.ts"

/** Each run leaves as much unfinished work as possible, and ends. */
const script = `
export const litter = async (event, svc) => {
  const mine = svc
  for (let n = 0; n < 20; n++) {
    setInterval(() => mine.log.info("late"), 1)
    AbortSignal.timeout(60_000)
    new Promise(() => {}).then(() => mine)
    mine.events.publish({ type: "slow" }).catch(() => {})
    fetch("https://a.test/" + n).then((response) => response.body.getReader()).catch(() => {})
    new ReadableStream({ pull: () => new Promise(() => {}) }).getReader().read()
    mine.signal.addEventListener("abort", () => { for (;;); })
  }
  if (event.n % 3 === 0) throw new Error("x".repeat(10000), { cause: mine })
  return "y".repeat(10000)
}`

const MiB = 1024 * 1024

const stateOf = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, "latin1")
  const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1])
  return {
    rssBytes: number("VmRSS") * 1024,
    threads: number("Threads"),
    descriptors: readdirSync(`/proc/${pid}/fd`).length
  }
}

layer(harnessLayer(generousSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(
  "many hostile runs",
  (it) => {
    it.effect(
      "release memory, threads, descriptors and timers",
      () =>
        Effect.gen(function* () {
          const { call, victims } = yield* makeHarness
          const tenant = yield* prepareTenant(4, script)
          const round = (runs: number) =>
            Effect.forEach(
              Array.from({ length: runs }, (_, n) => n),
              (n) => call(tenant, "litter", { svc: { event: { n }, run: {} }, timeoutMs: 20_000 }),
              { concurrency: 8, discard: true }
            )
          yield* round(100)
          yield* Effect.sleep("500 millis")
          const pids = runnerPids()
          const before = pids.map(stateOf)
          const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
          yield* round(500)
          yield* Effect.sleep("500 millis")
          assert.deepStrictEqual(runnerPids(), pids)
          for (const [index, pid] of pids.entries()) {
            const now = stateOf(pid)
            assert.isBelow(now.rssBytes - (before[index]?.rssBytes ?? 0), 200 * MiB)
            assert.isAtMost(now.threads, (before[index]?.threads ?? 0) + 2)
            assert.isAtMost(now.descriptors, (before[index]?.descriptors ?? 0) + 2)
          }
          assert.isAtMost(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length, timers + 5)
          assert.deepStrictEqual(victims.failed, [])
        }),
      60_000
    )
  }
)
