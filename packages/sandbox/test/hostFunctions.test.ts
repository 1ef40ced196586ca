/** Host functions called from isolates, through the whole runtime: attempts of the guest, and their effect on the host. */
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { HostRefused, type HostRun, hostFunction, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { Redacted, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sandbox } from "../src/index.ts"
import { buildBundle } from "./zip.ts"

const code = `
const outcome = (promise) => promise.then((value) => ({ value }), (error) => [error.name, error.message])

export const echo = (input) => outcome(svc.host.echo(input))
export const fails = () => svc.host.fails()
export const refuses = () => svc.host.refuses()
export const absent = () => Promise.all([outcome(svc.host.closed()), outcome(svc.host.nowhere())])

export const own = () => outcome(svc.host.echo(JSON.parse('{"__proto__":{"isAdmin":true}}')))
export const deep = () => {
  let value = []
  for (let level = 0; level < 2000; level++) value = [value]
  return outcome(svc.host.echo(value))
}
export const deepest = () => {
  let text = ""
  for (let level = 0; level < 200000; level++) text += "["
  return outcome(svc.host.echo({ toJSON: () => "x", text }))
}
export const large = () => outcome(svc.host.echo("x".repeat(1024 * 1024 - 2)).then((text) => text.length))
export const flood = async () => {
  const ended = await Promise.all(Array.from({ length: 3000 }, (_, n) => outcome(svc.host.count(n))))
  const names = {}
  for (const end of ended) { const name = Array.isArray(end) ? end[0] : "value"; names[name] = (names[name] ?? 0) + 1 }
  return names
}
export const unawaited = () => { svc.host.slow(); return "returned" }
export const waits = () => svc.host.ignores()
waits.meta = { timeout: "300ms" }
export const cancelled = () => svc.host.ignores()
export const after = async () => { globalThis.late = () => outcome(svc.host.echo(1)); globalThis.host = svc.host; return null }
export const again = async () => outcome(globalThis.host.echo(2))
`

const secret = "postgres://user:hunter2@db.internal"
const seen = { count: 0, running: 0, most: 0, slow: 0, signals: [] as AbortSignal[] }

const host = {
  echo: hostFunction({ input: Schema.Unknown, output: Schema.Unknown }, (input) => input),
  fails: hostFunction({}, () => {
    throw new TypeError(secret)
  }),
  refuses: hostFunction({}, () => {
    throw new HostRefused({ name: "NotToday", message: "Try again tomorrow" })
  }),
  closed: hostFunction({ allow: () => false }, () => null),
  count: hostFunction({ input: Schema.Int, concurrency: { run: 4 } }, async () => {
    seen.count++
    seen.most = Math.max(seen.most, ++seen.running)
    await sleep(1)
    seen.running--
  }),
  slow: hostFunction({}, async () => {
    await sleep(200)
    seen.slow++
  }),
  ignores: hostFunction({}, (_, { signal }) => {
    seen.signals.push(signal)
    return new Promise<void>(() => undefined)
  })
}

let weft: WeftInstance
let env: WeftEnv
beforeAll(async () => {
  const key = Redacted.make(new Uint8Array(32).fill(7))
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    // Thousands of calls start at once, and their rate is limited by the clock.
    sandbox: sandbox({ runners: 1, key, limits: { cpuSliceMs: 10_000 } }),
    masterKeys: [key],
    deliveries: { total: 2, perEnv: 2 },
    host
  })
  const org = await weft.orgs.create({ slug: "acme" })
  env = weft.env((await weft.envs.create(org.slug, { name: "test" })).env_id)
  await env.projects.create({ name: "shop" })
  const zip = buildBundle(code)
  const { build } = await env.builds.upload("shop", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await env.builds.deploy("shop", build.build_id)
}, 60_000)
// Also while functions run that nothing ends.
afterAll(() => weft.close())

const call = async (fn: string, ...args: ReadonlyArray<Schema.Json>): Promise<HostRun> => {
  const { run } = await env.call({ fn: `main/${fn}`, args, wait: 30 })
  if (run === null) throw new Error(`${fn} did not start`)
  return run
}
const resultOf = async (fn: string, ...args: ReadonlyArray<Schema.Json>) => (await call(fn, ...args)).result

describe("code in an isolate", () => {
  it("receives results and refusals, and for failures only the id of its run", async () => {
    assert.deepStrictEqual(await resultOf("echo", { a: [1, null, "é"] }), { value: { a: [1, null, "é"] } })
    const refused = await call("refuses")
    const { name, message } = Object(refused.result).error
    assert.deepStrictEqual([name, message], ["NotToday", "Try again tomorrow"])
    const failed = await call("fails")
    assert.strictEqual(failed.status, "failed")
    const text = JSON.stringify(failed.result)
    assert.include(text, `The host function fails failed (run ${failed.run_id})`)
    for (const leak of ["hunter2", "TypeError", "hostFunctions.test", "node_modules"]) assert.notInclude(text, leak)
    assert.deepStrictEqual(await resultOf("absent"), [
      ["NotFound", "There is no host function closed"],
      ["NotFound", "There is no host function nowhere"]
    ])
  })

  it("cannot pass invalid input to the host", async () => {
    assert.deepStrictEqual(await resultOf("own"), [
      "Invalid",
      "echo: no object of the input may have the name __proto__"
    ])
    assert.deepStrictEqual(await resultOf("deep"), ["Invalid", "echo: the input is nested deeper than 64 levels"])
    assert.deepStrictEqual(await resultOf("deepest"), { value: "x" })
    assert.deepStrictEqual(await resultOf("large"), { value: 1024 * 1024 - 2 })
  })

  it("has some of thousands of calls queued, and the rest rejected", async () => {
    assert.deepStrictEqual(await resultOf("flood"), { value: 1000, LimitExceeded: 2000 })
    assert.deepInclude(seen, { count: 1000, running: 0, most: 4 })
  })

  it("has its run wait for calls that it did not await", async () => {
    assert.deepStrictEqual(await resultOf("unawaited"), "returned")
    assert.strictEqual(seen.slow, 1)
  })

  it("cannot use svc.host of an ended run", async () => {
    assert.isNull(await resultOf("after"))
    assert.deepStrictEqual(await resultOf("again"), ["RunEnded", "the run has ended"])
  })
})

describe("a host function that ignores its signal", () => {
  it("does not delay the run after its timeout, and frees its slot", async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, () => call("waits")))
    assert.deepStrictEqual(
      runs.map(({ status, result }) => [status, Object(result).error.name]),
      new Array(6).fill(["failed", "TimedOut"])
    )
    assert.deepStrictEqual(
      seen.signals.map(({ aborted }) => aborted),
      new Array(6).fill(true)
    )
  })

  it("does not delay a cancelled run", async () => {
    const { event } = await env.call({ fn: "main/cancelled" })
    while (seen.signals.length < 7) await sleep(10)
    const [run] = await env.events.runs(event.event_id)
    const cancelled = await env.runs.cancel(run?.run_id ?? "")
    assert.strictEqual(cancelled.status, "cancelled")
    while (seen.signals[6]?.aborted !== true) await sleep(10)
  })
})
