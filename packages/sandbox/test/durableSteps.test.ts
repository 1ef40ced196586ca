/** Fan-out, sagas, options of steps and cancellations of durable functions in isolates, through the whole runtime. */
import { createHash } from "node:crypto"
import { type HostRun, hostFunction, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { Redacted, Schema } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { sandbox } from "../src/index.ts"
import { buildBundle } from "./zip.ts"

const code = `
const durable = (name, fn, meta = {}) => Object.assign(fn, { meta: { event: name, durable: true, ...meta } })
const ran = (name) => svc.host.ran(name)

export const fan = durable("fan", async (event, svc) => {
  let active = 0, most = 0
  const items = Array.from({ length: 500 }, (_, n) => n)
  const results = await svc.all(items, (item, index) => svc.step("part " + index, async () => {
    most = Math.max(most, ++active)
    await null
    active--
    return item * 2
  }), { concurrency: 10 })
  await svc.sleep("pause", "1100ms")
  return { most, sum: results.reduce((a, b) => a + b, 0), length: results.length }
})

export const failing = durable("failing", (event, svc) =>
  svc.all([1, 2, 3, 4], async (item) => {
    await ran("item " + item)
    if (item === 2) throw new RangeError("item 2")
    return svc.step("item " + item, () => item)
  }, { concurrency: 2 }).catch((error) => error.message))

export const attempts = durable("attempts", async (event, svc) => {
  const retry = { attempts: 4, delay: "1h" }
  const names = []
  const attempt = (name, body, options) => svc.step(name, body, options).catch((error) => names.push(error.name + ": " + error.message))
  await attempt("slow", ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => ran("aborted " + signal.reason.name))), { timeout: "50ms" })
  await attempt("late", async ({ signal }) => { await new Promise((resolve) => setTimeout(resolve, 30)); return signal.aborted }, { timeout: "PT1S" })
  await attempt("flag", () => { throw Object.assign(new Error("flag"), { nonRetryable: true }) }, { retry })
  await attempt("name", () => { throw Object.assign(new Error("name"), { name: "NonRetryable" }) }, { retry })
  await attempt("after", async ({ attempt }) => {
    await ran("attempt " + attempt)
    if (attempt === 1) throw Object.assign(new Error("after"), { retryAfter: 10 })
    if (attempt === 2) throw Object.assign(new Error("after"), { retryAfter: new Date(Date.now() + 20) })
    if (attempt === 3) throw Object.assign(new Error("after"), { retryAfter: "10ms" })
    return attempt
  }, { retry })
  await attempt("wrong", () => 1, { timeout: "soon" })
  return names
})

export const trip = durable("trip", async (event, svc) => {
  const saga = svc.saga()
  await saga.step("hotel", () => "H1", (result) => ran("cancel " + result))
  await saga.step("car", () => "C1", async (result) => { await ran("cancel " + result); throw new RangeError("too late") })
  await svc.step("flight", () => "F1", { compensate: (result) => ran("cancel " + result) })
  await svc.sleep("pause", "1100ms")
  throw new TypeError("no seat")
})

export const order = durable("order", async (event, svc) => {
  await svc.step("charge", () => "R1", { compensate: async (receipt, { attempt }) => {
    await ran("refund " + receipt + " " + attempt)
    if (attempt === 1) throw new Error("busy")
  }, retry: { attempts: 2, delay: "1500ms", jitter: false } })
  try {
    await Promise.all([
      svc.step("ship", ({ signal }) => new Promise((_, reject) => {
        ran("ship")
        signal.addEventListener("abort", () => reject(signal.reason))
      })),
      svc.waitForEvent("paid", { event: "paid" })
    ])
  } catch (error) {
    await svc.step("note", () => ran(error.name))
    throw error
  }
})

export const strict = durable("strict", async (event, svc) => {
  await svc.step("inside", () => svc.events.publish({ type: "other", data: null }))
  await svc.context.get("key")
  const errors = []
  for (const effect of [() => fetch("https://example.com"), () => svc.events.publish({ type: "other", data: null }), () => svc.files.get("/a"), () => ran("outside")]) {
    await effect().catch((error) => errors.push(error.name + ": " + error.message))
  }
  return errors
}, { durable: { strict: true } })

export const loose = durable("loose", async (event, svc) => {
  await ran("first")
  await ran("second")
  await svc.sleep("pause", "1100ms")
  await ran("third")
})
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
beforeEach(() => {
  ran.length = 0
})

const publish = async (type: string): Promise<string> => (await env.events.publish({ type, data: {} })).event_id

const runOf = async (eventId: string, isDone = (run: HostRun) => run.status !== "running"): Promise<HostRun> => {
  for (let tries = 0; tries < 400; tries++) {
    const { items } = await env.runs.list()
    const run = items.find((each) => each.event_id === eventId)
    if (run !== undefined && isDone(run)) return run
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error("the run did not get there")
}

const logOf = async ({ run_id }: HostRun) =>
  (await env.runs.logs(run_id)).items.map(({ level, message }) => `${level} ${message}`)

describe("svc.all", { timeout: 20_000 }, () => {
  it("runs 500 steps, 10 at a time, and replays them", async () => {
    const run = await runOf(await publish("fan"))
    // In the replay no body runs.
    assert.deepStrictEqual(run.result, { most: 0, sum: 249_500, length: 500 })
  })

  it("starts no further call after a failure, and rejects with it", async () => {
    const run = await runOf(await publish("failing"))
    assert.strictEqual(run.result, "item 2")
    assert.deepStrictEqual(ran, ["item 1", "item 2"])
  })
})

describe("the attempt at a step", { timeout: 20_000 }, () => {
  it("obeys its timeout, and what its error says about further attempts", async () => {
    const run = await runOf(await publish("attempts"))
    assert.deepStrictEqual(run.result, [
      'StepTimeout: the step "slow" took longer than its timeout of 50 ms',
      "Error: flag",
      "NonRetryable: name",
      'TypeError: svc.step: timeout must be a duration such as "30s", at most 1 hour'
    ])
    assert.deepStrictEqual(ran, ["aborted StepTimeout", "attempt 1", "attempt 2", "attempt 3", "attempt 4"])
  })
})

describe("a saga", { timeout: 20_000 }, () => {
  it("undoes its steps in reverse order after a replay, and names the undo that failed", async () => {
    const run = await runOf(await publish("trip"))
    assert.deepStrictEqual(ran, ["cancel F1", "cancel C1", "cancel H1"])
    const text = 'The undo of the step "car" failed with RangeError: too late'
    assert.deepInclude(Object(run.result).error, { name: "TypeError", message: `no seat. ${text}` })
    assert.include(await logOf(run), `error ${text}`)
  })
})

describe("a cancellation with cleanup", { timeout: 20_000 }, () => {
  it("aborts bodies, rejects requests, and undoes steps, over several activations", async () => {
    const id = await publish("order")
    while (!ran.includes("ship")) await new Promise((resolve) => setTimeout(resolve, 10))
    const { run_id } = await runOf(id, () => true)
    assert.strictEqual((await env.runs.cancel(run_id, { cleanup: "20s" })).status, "running")
    await runOf(id, ({ waiting }) => waiting !== null)
    await publish("paid")
    const run = await runOf(id)
    assert.strictEqual(run.status, "cancelled")
    assert.deepInclude(Object(run.result).error, { name: "Cancelled", message: "The run was cancelled" })
    assert.deepStrictEqual(ran, ["ship", "Cancelled", "refund R1 1", "refund R1 2"])
  })
})

describe("an effect outside of a step", { timeout: 20_000 }, () => {
  it("is refused in a strict function", async () => {
    const run = await runOf(await publish("strict"))
    const messages = Object(run.result)
    assert.lengthOf(messages, 4, JSON.stringify(run.result))
    for (const message of messages) {
      assert.match(
        message,
        /^OutsideStep: [\w.]+ outside of a step would run again in each replay: wrap it in svc.step$/
      )
    }
    assert.deepStrictEqual(ran, [])
  })

  it("is a warning with the function's name in another one, once", async () => {
    const run = await runOf(await publish("loose"))
    assert.deepStrictEqual(await logOf(run), [
      "warn main/loose: host.ran outside of a step runs again in each replay: wrap it in svc.step"
    ])
    assert.deepStrictEqual(ran, ["first", "second", "first", "second", "third"])
  })
})
