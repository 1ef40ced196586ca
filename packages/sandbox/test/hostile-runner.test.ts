/** What somebody can do to the supervisor who has a runner process in his hands, each time with its barrier. */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type FromRunner, writeFromRunner } from "../src/protocol/FromRunner.ts"
import { FrameWriter } from "../src/protocol/Wire.ts"
import { limits, type Supervised, supervised, type Told } from "./fuzz/Supervised.ts"

const MiB = 2 ** 20
/** Stands for the number of the run, which the runner puts in. */
const run = 0x01eeeeee
const isolate = 0x02eeeeee
const usage = { run, cpuMs: 1, heapBytes: 1 }

const saying = (...messages: ReadonlyArray<FromRunner>): string => {
  const writer = new FrameWriter()
  for (const message of messages) writeFromRunner(writer, message)
  return `say:${Buffer.concat(writer.take()).toString("base64")}`
}

let world: Supervised

beforeEach(() => {
  world = supervised()
})
afterEach(() => world.close())

const tagOf = ({ execution }: Told): string => (typeof execution === "string" ? execution : execution.outcome._tag)

/** Somebody else's function is answered while this goes on, and after it. */
const besides = async (attack: Promise<Told>): Promise<Told> => {
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.strictEqual(tagOf(await world.call("good")), "Returned")
  const told = await attack
  assert.strictEqual(tagOf(await world.call("good")), "Returned")
  return told
}

describe("a runner that was taken over", { timeout: 60_000 }, () => {
  it("ends with its runs where it says what no runner says", async () => {
    const large = "x".repeat(limits.resultBytes + 1)
    const long = "x".repeat(70_000)
    for (const message of [
      { kind: "returned", output: "{", ...usage },
      { kind: "returned", output: JSON.stringify(large), ...usage },
      { kind: "responded", status: 99, encoding: "json", headers: "{}", body: "1", ...usage },
      { kind: "responded", status: 200, encoding: "json", headers: '{"a":"b\\r\\nc"}', body: "1", ...usage },
      { kind: "threw", name: long, message: "", stack: "", ...usage },
      { kind: "threw", name: "", message: long, stack: "", ...usage },
      { kind: "threw", name: "", message: "", stack: long, ...usage },
      { kind: "exceeded", limit: "", message: long, ...usage },
      { kind: "loadFailed", isolate, failure: "threw", name: "", message: long, stack: "" },
      { kind: "call", run, call: 1, op: long, payload: "" },
      { kind: "call", run, call: 1, op: "x", payload: large },
      { kind: "ready", cache: new Uint8Array(100) }
    ] satisfies ReadonlyArray<FromRunner>) {
      // What has been seen of a run keeps it from being run again.
      const log = { kind: "log", run, level: "info", message: "", data: null } as const
      const told = await world.call(saying(log, message))
      assert.strictEqual(tagOf(told), "RunnerLost", `${message.kind}: ${JSON.stringify(told).slice(0, 200)}`)
      assert.match(world.reports.at(-1) ?? "", /it broke the protocol/)
    }
  })

  it("is not read where it says too much of a bundle that it loads for the first time", async () => {
    assert.strictEqual((await world.prepare(`exports:${limits.exportsBytes - 3}`)).length, limits.exportsBytes - 4)
    for (const script of [
      `exports:${limits.exportsBytes + 3}`,
      "exports:100000000",
      "fails:70000",
      "fails:100000000"
    ]) {
      assert.match(
        await world.prepare(script),
        /^index\.js ended the process that loaded it \(it broke the protocol: .+ too much/
      )
    }
  })

  it("uses no more processor than there was time, and no more memory than there is", async () => {
    const { execution } = await world.call(
      saying({ kind: "returned", output: "1", run, cpuMs: 1e308, heapBytes: 1e308 })
    )
    assert.isObject(execution)
    if (typeof execution === "string") return
    assert.isAtMost(execution.usage.cpu_ms, execution.usage.wall_ms)
    assert.isAtMost(execution.usage.heap_bytes, 2 * limits.heapBytes)
  })

  it("cannot log what is no JSON, which whoever reads the log would fail of", async () => {
    const log = (data: string) => saying({ kind: "log", run, level: "info", message: "said", data })
    const told = await world.call(log("{"))
    assert.deepStrictEqual([tagOf(told), told.logs], ["RunnerLost", []])
    assert.include(world.reports.join(), "it broke the protocol")
    assert.lengthOf((await world.call(log("[1]"))).logs, 1)
  })

  it("gives one strike for one accident, however often it tells of it", async () => {
    const told = new Map<string, number>()
    world.pool.strikes.strike = (build) => void told.set(build, (told.get(build) ?? 0) + 1)
    const sick: FromRunner = { kind: "sick", isolate }
    await besides(
      world.call(saying({ kind: "lost", isolate, cause: "cpu", guilty: run, cpuMs: 1, heapBytes: 1 }, sick, sick))
    )
    assert.deepStrictEqual([...told.values()], [1])
  })

  it("cannot fill the host's memory with isolates that there are not", async () => {
    const attack = world.call("busy")
    let most = 0
    const watch = setInterval(() => {
      for (const view of world.pool.views.values()) most = Math.max(most, view.busy.size)
    }, 20)
    await besides(attack)
    clearInterval(watch)
    assert.isAtMost(most, 20)
  })

  it("cannot fill it with answers that it does not take", async () => {
    const before = process.memoryUsage().rss
    const told = await besides(world.call("deaf", JSON.stringify("x".repeat(limits.hostCallBytes - 2))))
    assert.strictEqual(tagOf(told), "RunnerLost")
    assert.isBelow(process.memoryUsage().rss - before, 600 * MiB)
  })

  it.each(["beats", "calls"])("keeps nobody else from being answered with floods of %s", async (kind) => {
    const told = await besides(world.call(kind))
    assert.include(["Returned", "RunnerLost"], tagOf(told))
    assert.isAtMost(told.calls.length, 5000)
  })
})

describe("a runner that is told much at once", { timeout: 60_000 }, () => {
  it("is not to blame for what it has not taken yet, and never hears of what was stopped meanwhile", async () => {
    const svc = JSON.stringify("x".repeat(16 * MiB))
    const all = await Promise.all(Array.from({ length: 40 }, () => world.call("slow", "null", 100, svc)))
    for (const told of all) assert.include(["Returned", "TimedOut"], tagOf(told))
    assert.deepStrictEqual(world.reports, [])
    assert.strictEqual(tagOf(await world.call("good")), "Returned")
  })
})
