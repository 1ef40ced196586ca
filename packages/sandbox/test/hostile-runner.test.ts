/** Attacks of a compromised runner process on the supervisor, each with its defence. */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type FromRunner, writeFromRunner } from "../src/protocol/FromRunner.ts"
import { FrameWriter } from "../src/protocol/Wire.ts"
import { type CallRecord, limits, startSupervisor, type TestSupervisor } from "./fuzz/TestSupervisor.ts"

const MiB = 2 ** 20
/** Placeholder that the runner replaces by the id of the run. */
const run = 0x01eeeeee
const isolate = 0x02eeeeee
const retry = { isFinal: false, afterMs: null }
const usage = { run, cpuMs: 1, heapBytes: 1 }

const script = (...messages: ReadonlyArray<FromRunner>): string => {
  const writer = new FrameWriter()
  for (const message of messages) writeFromRunner(writer, message)
  return `say:${Buffer.concat(writer.take()).toString("base64")}`
}

let world: TestSupervisor

beforeEach(() => {
  world = startSupervisor()
})
afterEach(() => world.close())

const tagOf = ({ execution }: CallRecord): string =>
  typeof execution === "string" ? execution : execution.outcome._tag

/** Asserts that another build's function returns during the attack and after it. */
const withNeighbour = async (attack: Promise<CallRecord>): Promise<CallRecord> => {
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.strictEqual(tagOf(await world.call("good")), "Returned")
  const record = await attack
  assert.strictEqual(tagOf(await world.call("good")), "Returned")
  return record
}

describe("a compromised runner", { timeout: 60_000 }, () => {
  it("is killed with its runs after a message that no runner sends", async () => {
    const large = "x".repeat(limits.resultBytes + 1)
    const long = "x".repeat(70_000)
    for (const message of [
      { kind: "returned", output: "{", ...usage },
      { kind: "returned", output: JSON.stringify(large), ...usage },
      { kind: "responded", status: 99, encoding: "json", headers: "{}", body: "1", ...usage },
      { kind: "responded", status: 200, encoding: "json", headers: '{"a":"b\\r\\nc"}', body: "1", ...usage },
      { kind: "threw", name: long, message: "", stack: "", ...retry, ...usage },
      { kind: "threw", name: "", message: long, stack: "", ...retry, ...usage },
      { kind: "threw", name: "", message: "", stack: long, ...retry, ...usage },
      { kind: "threw", name: "", message: "", stack: "", isFinal: false, afterMs: Number.NaN, ...usage },
      { kind: "threw", name: "", message: "", stack: "", isFinal: false, afterMs: -2, ...usage },
      { kind: "threw", name: "", message: "", stack: "", isFinal: false, afterMs: 1e12, ...usage },
      { kind: "exceeded", limit: "", message: long, ...usage },
      { kind: "loadFailed", isolate, failure: "threw", name: "", message: long, stack: "" },
      { kind: "call", run, call: 1, op: long, payload: "" },
      { kind: "call", run, call: 1, op: "x", payload: large },
      { kind: "ready", cache: new Uint8Array(100) }
    ] satisfies ReadonlyArray<FromRunner>) {
      // A run with a log line is not retried.
      const log = { kind: "log", run, level: "info", message: "", data: null } as const
      const record = await world.call(script(log, message))
      assert.strictEqual(tagOf(record), "RunnerLost", `${message.kind}: ${JSON.stringify(record).slice(0, 200)}`)
      assert.match(world.reports.at(-1) ?? "", /it broke the protocol/)
    }
  })

  it("cannot make the host parse a huge description of a new bundle", async () => {
    assert.strictEqual((await world.prepare(`exports:${limits.exportsBytes - 3}`)).length, limits.exportsBytes - 4)
    for (const script of [
      `exports:${limits.exportsBytes + 3}`,
      "exports:100000000",
      "fails:70000",
      "fails:100000000"
    ]) {
      assert.match(
        await world.prepare(script),
        /^index\.js crashed the process that loaded it \(it broke the protocol: (?:the description of exports|a text of an error) has over \d+/
      )
    }
  })

  it("cannot report more processor time than elapsed, or more memory than exists", async () => {
    const { execution } = await world.call(
      script({ kind: "returned", output: "1", run, cpuMs: 1e308, heapBytes: 1e308 })
    )
    assert.isObject(execution)
    if (typeof execution === "string") return
    assert.isAtMost(execution.usage.cpu_ms, execution.usage.wall_ms)
    assert.isAtMost(execution.usage.heap_bytes, 2 * limits.heapBytes)
  })

  it("cannot log data that is not JSON, which would break readers of the log", async () => {
    const log = (data: string) => script({ kind: "log", run, level: "info", message: "said", data })
    const record = await world.call(log("{"))
    assert.deepStrictEqual([tagOf(record), record.logs], ["RunnerLost", []])
    assert.include(world.reports.join(), "it broke the protocol")
    assert.lengthOf((await world.call(log("[1]"))).logs, 1)
  })

  it("causes one strike per incident, even if it reports the incident several times", async () => {
    const record = new Map<string, number>()
    world.pool.strikes.strike = (build) => {
      record.set(build, (record.get(build) ?? 0) + 1)
      return false
    }
    const unresponsive: FromRunner = { kind: "unresponsive", isolate }
    await withNeighbour(
      world.call(
        script(
          { kind: "lost", isolate, cause: "cpu", computing: run, cpuMs: 1, heapBytes: 1 },
          unresponsive,
          unresponsive
        )
      )
    )
    assert.deepStrictEqual([...record.values()], [1])
  })

  it("loses its waiting runs to other runners soon after a thread in it cannot be stopped", async () => {
    const waiting = Array.from({ length: 8 }, (_, n) =>
      // The first run of a session finds no state, so it can begin again.
      world.call(n % 2 === 0 ? "waits" : "session waits")
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    await world.call(
      script(
        { kind: "lost", isolate, cause: "cpu", computing: run, cpuMs: 1, heapBytes: 1 },
        { kind: "unresponsive", isolate }
      )
    )
    assert.deepStrictEqual(new Set((await Promise.all(waiting)).map(tagOf)), new Set(["Returned"]))
    // Otherwise it would die at the end of its grace period.
    assert.include(world.reports.join(), "it is no longer needed")
  })

  it("cannot fill the host's memory with isolates that do not exist", async () => {
    const attack = world.call("busy")
    let most = 0
    const watch = setInterval(() => {
      for (const view of world.pool.views.values()) most = Math.max(most, view.busy.size)
    }, 20)
    await withNeighbour(attack)
    clearInterval(watch)
    assert.isAtMost(most, 20)
  })

  it("cannot fill the host's memory with results that it does not read", async () => {
    const before = process.memoryUsage().rss
    const record = await withNeighbour(world.call("deaf", JSON.stringify("x".repeat(limits.hostCallBytes - 2))))
    assert.strictEqual(tagOf(record), "RunnerLost")
    // Further calls wait until it has read the answers.
    assert.isBelow(record.calls.length * limits.hostCallBytes, 128 * MiB)
    assert.isBelow(process.memoryUsage().rss - before, 600 * MiB)
  })

  it.each(["heartbeats", "calls"])("cannot delay other builds with floods of %s", async (kind) => {
    const record = await withNeighbour(world.call(kind))
    assert.include(["Returned", "RunnerLost"], tagOf(record))
    assert.isAtMost(record.calls.length, 5000)
  })
})

describe("a runner that receives many messages at once", { timeout: 60_000 }, () => {
  it("is not killed for unread messages, and does not receive runs that were stopped in the meantime", async () => {
    const svc = JSON.stringify("x".repeat(16 * MiB))
    const large = Promise.all(Array.from({ length: 40 }, () => world.call("slow", "null", 100, svc)))
    // Small messages pass those that wait, also if the runs of all of these end first.
    const small = Promise.all(Array.from({ length: 8 }, () => world.call("good")))
    const all = await large
    assert.deepStrictEqual(new Set((await small).map(tagOf)), new Set(["Returned"]))
    for (const record of all) assert.include(["Returned", "TimedOut"], tagOf(record))
    assert.deepStrictEqual(world.reports, [])
    assert.strictEqual(tagOf(await world.call("good")), "Returned")
  })
})
