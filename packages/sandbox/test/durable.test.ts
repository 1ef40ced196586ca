/** Durable functions in isolates, through the whole runtime. */
import { createHash } from "node:crypto"
import { type HostRun, hostFunction, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { Redacted, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sandbox } from "../src/index.ts"
import { buildBundle } from "./zip.ts"

const code = `
const durable = (name, fn, meta = {}) => Object.assign(fn, { meta: { event: name, durable: true, ...meta } })
const ran = (name) => svc.host.ran(name)

export const steps = durable("steps", async (event, svc) => {
  svc.log.info("begin")
  const a = await svc.step("a", async () => { await ran("a"); return event.event_data.n + 1 })
  svc.log.info("after a")
  await svc.sleep("pause", 1500)
  svc.log.info("after pause")
  const both = await Promise.all([
    svc.step("b", async () => { await ran("b"); return { b: a } }),
    svc.step("c", async () => { await ran("c") })
  ])
  return { a, both, now: svc.now() > 1e12, random: svc.random(), uuid: svc.uuid() }
})

export const retried = durable("retried", async (event, svc) => {
  const value = await svc.step("flaky", async ({ attempt, idempotencyKey }) => {
    await ran("attempt " + attempt)
    if (attempt < 3) throw new RangeError("not yet")
    return [attempt, idempotencyKey.endsWith(":0")]
  }, { retry: { attempts: 3, delay: "1100ms", backoff: 1, jitter: false } })
  const error = await svc.step("fails", () => { throw new RangeError("never") }).catch((error) => [error.name, error.message])
  return { value, error }
})

export const waits = durable("waits", async (event, svc) => {
  const { order } = event.event_data
  const found = await svc.waitForEvent("paid", { event: "paid", match: { "order.id": order }, timeout: "1h" })
  const none = await svc.waitForEvent("never", { event: "never", timeout: "20ms" })
  return { amount: found.event_data.amount, none }
})

export const approves = durable("approves", async (event, svc) => {
  const token = await svc.createToken("approval", { timeout: "1h" })
  await svc.step("send", () => ran(token.url))
  svc.log.info("sent", token)
  const answer = await svc.waitForToken(token)
  const same = await svc.waitForToken(token.token)
  const short = await svc.createToken("short", { timeout: "20ms" })
  const none = await svc.waitForToken(short)
  const foreign = await svc.waitForToken("x").catch((error) => error.message)
  return { answer, same, none, foreign, keys: Object.keys(token).sort() }
})

let swaps = 0
export const swapped = durable("swapped", async (event, svc) => {
  swaps++
  const token = await svc.createToken("a")
  await (swaps === 1 ? svc.waitForToken(token) : svc.createToken("a"))
})

let calls = 0
export const changing = durable("changing", async (event, svc) => {
  calls++
  await svc.step(calls === 1 ? "first" : "second", () => calls)
  await svc.sleep("pause", "1100ms")
  return calls
})

export const stalled = durable("stalled", () => new Promise(() => undefined))

export const busy = durable("busy", async (event, svc) => {
  const never = svc.waitForEvent("never", { event: "never" })
  await svc.step("busy", async () => { await ran("busy"); await new Promise((resolve) => setTimeout(resolve, 2000)) })
  await never
})

export const add = (a, b) => { if (b === undefined) throw new RangeError("no b"); return a + b }
export const nap = async (n, svc) => {
  await svc.sleep("nap", 1200)
  return n < 3 ? svc.continueAsNew([n + 1]) : { n }
}
nap.meta = { durable: true }

export const parent = durable("parent", async (event, svc) => {
  const [called, version] = [await svc.call("main/add", [1, 1]), await svc.version("form", 4)]
  const sum = await svc.invoke("main/add", [1, 2])
  const error = await svc.invoke("main/add", [1], { name: "fails" }).catch((error) =>
    [error.name, error.message, typeof error.cause.run_id])
  const last = await svc.invoke("main/nap", [1], { timeout: "1h" })
  const late = await svc.invoke("main/nap", 1, { timeout: 30 }).catch((error) => error.name)
  const local = await svc.step("local", () => svc.invoke("main/add", [2, 2]))
  return { called: typeof called.event_id, version, again: await svc.version("form", 5), sum, error, last, late, local }
})

const nested = (levels) => {
  let inner = []
  const outer = inner
  for (let level = 1; level < levels; level++) { const next = []; inner.push(next); inner = next }
  return outer
}
const caught = (call) => call().then(() => "no error", (error) => error.name + ": " + error.message)

export const hostile = durable("hostile", async (event, svc) => [
  await caught(() => svc.step("large", () => "x".repeat(2_000_000))),
  await caught(() => svc.waitForEvent("deep", { event: "x", match: { a: nested(4_000) }, timeout: 1 })),
  await caught(() => svc.events.publish({ type: "deep", data: nested(6_000) }))
])

export const crowded = durable("crowded", async (event, svc) => {
  const calls = Array.from({ length: 1_100 }, (_, n) => svc.sleep("sleep " + n, "2s").then(() => "slept", (error) => error.name))
  const results = await Promise.all(calls)
  return [results.filter((result) => result === "slept").length, results.at(-1)]
})

export const chatty = durable("chatty", async (event, svc) => {
  for (let n = 0; n < 3; n++) {
    svc.log.info("x".repeat(700_000))
    await svc.sleep("pause", 1100)
  }
})

export const plain = (event, svc) => svc.step("a", () => 1)
plain.meta = { event: "plain" }
`

const ran: Array<string> = []
const host = {
  ran: hostFunction({ input: Schema.String }, (name) => {
    ran.push(name)
  })
}

let weft: WeftInstance
let env: WeftEnv
beforeAll(async () => {
  const key = Redacted.make(new Uint8Array(32).fill(7))
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1, key }),
    masterKeys: [key],
    host
  })
  const org = await weft.orgs.create({ slug: "acme" })
  env = weft.env((await weft.envs.create(org.slug, { name: "test" })).env_id)
  await env.projects.create({ name: "shop" })
  const zip = buildBundle(code)
  const { build } = await env.builds.upload("shop", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await env.builds.deploy("shop", build.build_id)
}, 60_000)
afterAll(() => weft.close())

const publish = async (type: string, data: Schema.Json = {}): Promise<string> =>
  (await env.events.publish({ type, data })).event_id

const runOf = async (eventId: string, isDone = (run: HostRun) => run.status !== "running"): Promise<HostRun> => {
  for (let tries = 0; tries < 400; tries++) {
    const { items } = await env.runs.list()
    const run = items.find((each) => each.event_id === eventId)
    if (run !== undefined && isDone(run)) return run
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error("the run did not get there")
}

describe("a durable function", { timeout: 20_000 }, () => {
  it("continues after a sleep without repeating its steps and logs", async () => {
    ran.length = 0
    const id = await publish("steps", { n: 1 })
    const suspended = await runOf(id, ({ waiting }) => waiting !== null)
    assert.deepInclude(Object(suspended.waiting), { for: "timer", name: "pause" })
    const run = await runOf(id)
    assert.deepInclude(Object(run.result), { a: 2, both: [{ b: 2 }, null], now: true })
    assert.deepStrictEqual(ran, ["a", "b", "c"])
    const { items } = await env.runs.logs(run.run_id)
    assert.deepStrictEqual(
      items.map(({ message }) => message),
      ["begin", "after a", "after pause"]
    )
  })

  it("repeats a failed step by its policy, and receives its last error", async () => {
    ran.length = 0
    const run = await runOf(await publish("retried"))
    assert.deepStrictEqual(run.result, { value: [3, true], error: ["RangeError", "never"] })
    assert.deepStrictEqual(ran, ["attempt 1", "attempt 2", "attempt 3"])
  })

  it("receives the event that it waits for, and null after a timeout", async () => {
    const id = await publish("waits", { order: 7 })
    await runOf(id, ({ waiting }) => waiting !== null)
    await publish("paid", { order: { id: 8 }, amount: 1 })
    await publish("paid", { order: { id: 7 }, amount: 2 })
    assert.deepStrictEqual((await runOf(id)).result, { amount: 2, none: null })
  })

  it("waits for the results of child runs, also of those that continue as new ones", async () => {
    const run = await runOf(await publish("parent"))
    assert.deepStrictEqual(run.result, {
      ...{ called: "string", version: 4, again: 4, sum: 3, last: { n: 3 }, late: "TimedOut", local: 4 },
      error: ["RangeError", "no b", "string"]
    })
  })

  it("continues when its token is completed, with the same URL in each replay", async () => {
    ran.length = 0
    const id = await publish("approves")
    const { run_id, waiting } = await runOf(id, (run) => run.waiting !== null)
    assert.deepInclude(Object(waiting), { for: "token", name: "approval" })
    assert.match(ran[0] ?? "", /^\/tokens\/[\w-]{43}$/)
    await env.runs.completeToken(run_id, "approval", { by: "ann" })
    const answer = { ok: true, data: { by: "ann" } }
    assert.deepStrictEqual((await runOf(id)).result, {
      answer,
      same: answer,
      none: { ok: false, reason: "timeout" },
      foreign: "svc.waitForToken takes a token that svc.createToken returned",
      keys: ["id", "token", "url"]
    })
    assert.strictEqual(ran.length, 1)
    const { items } = await env.runs.logs(run_id)
    assert.strictEqual(items[0]?.data, JSON.stringify({ url: "/tokens/***", token: "***", id: `${run_id}:0` }))
  })

  it("fails when it creates a token instead of waiting for one", async () => {
    const id = await publish("swapped")
    const { run_id } = await runOf(id, (run) => run.waiting !== null)
    await env.runs.completeToken(run_id, "a")
    const { message } = Object((await runOf(id)).result).error
    assert.include(message, 'request 1 was completion "a" when it was recorded and is token "a" now')
  })

  it("fails when it makes other requests than before", async () => {
    const run = await runOf(await publish("changing"))
    assert.strictEqual(run.status, "failed")
    const { name, message } = Object(run.result).error
    assert.strictEqual(name, "NonDeterminism")
    assert.include(message, 'request 0 was step "first" when it was recorded and is step "second" now')
  })

  it("fails when nothing can settle the promise that it awaits", async () => {
    const run = await runOf(await publish("stalled"))
    assert.strictEqual(Object(run.result).error.name, "Stalled")
  })
})

describe("a hostile durable function", { timeout: 20_000 }, () => {
  it("receives errors for large results and deep arguments, which reach no parser", async () => {
    const run = await runOf(await publish("hostile"))
    assert.deepStrictEqual(run.result, [
      'ResultTooLarge: the result of the step "large" has over 262144 characters of JSON: store it in svc.files and return its path',
      "TypeError: svc.wait: its arguments are nested deeper than 504 levels",
      "TypeError: an argument is nested deeper than 500 levels"
    ])
  })

  it("is suspended although it makes as many requests as it may", async () => {
    const id = await publish("crowded")
    await runOf(id, ({ waiting }) => waiting !== null)
    assert.deepStrictEqual((await runOf(id)).result, [998, "LimitExceeded"])
  })

  it("has one log limit for all its activations", async () => {
    const { run_id } = await runOf(await publish("chatty"))
    const { items } = await env.runs.logs(run_id)
    assert.deepStrictEqual(
      items.map(({ message }) => message.slice(0, 9)),
      ["xxxxxxxxx", "log limit"]
    )
  })
})

describe("another function", () => {
  it("has no steps", async () => {
    const run = await runOf(await publish("plain"))
    assert.include(Object(run.result).error.message, "svc.step needs a durable function")
  })
})

describe("a node that closes", { timeout: 60_000 }, () => {
  it("suspends its durable runs", async () => {
    ran.length = 0
    await publish("busy")
    while (ran.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await weft.close()
  })
})
