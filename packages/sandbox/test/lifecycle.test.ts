import { assert, layer } from "@effect/vitest"
import { type GuestLog, type HostCall, HostCallRefused, type Outcome } from "@weft/core/adapter"
import { Deferred, Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant, type Tenant } from "./Tenant.ts"

const script = `
let calls = 0
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export const count = () => ++calls
export const add = (a, b) => a + b
export const echo = async (event, svc) => ({ event, same: svc === globalThis.svc, run: svc.run, caller: svc.caller })
export const publish = async (event, svc) => svc.events.publish({ type: "order:created", data: event })
export const publishUnawaited = (event, svc) => { svc.events.publish({ type: "x", data: 1 }) }
export const secret = async (key, svc) => svc.context.get(key)
export const secrets = async (event, svc) => svc.context.all()
export const refused = async (event, svc) => {
  try { await svc.events.publish({ type: "x" }) } catch (error) { return [error instanceof Error, error.name, error.message] }
}
export const timers = async () => {
  const order = []
  setTimeout(() => order.push("late"), 30)
  const dropped = setTimeout(() => order.push("never"), 10)
  clearTimeout(dropped)
  await sleep(1)
  order.push("early")
  await sleep(50)
  return order
}
export const timerThrows = async () => { setTimeout(() => { throw new RangeError("in a timer") }, 1); await sleep(1000) }
export const whoAmI = async (event, svc) => {
  const seen = []
  for (let round = 0; round < 5; round++) {
    await sleep(event % 3)
    for (let hop = 0; hop < 4; hop++) await null
    seen.push(globalThis.svc === svc)
    console.log("run " + event)
  }
  return seen.every(Boolean)
}
export const logs = (event, svc) => {
  console.log("plain", 1, { a: 1 })
  svc.log.warn("careful", { code: 7 })
  svc.log.debug("detail")
}
export const manyLogs = () => { for (let line = 0; line < 100_000; line++) console.log("x".repeat(100)) }
export const invokes = async (event, svc) => [await svc.invoke("main/add", [1, 2]), await svc.invoke("tools/twice", 4)]
export const waits = () => new Promise(() => {})
export const spins = () => { for (;;); }
export const stopsOnSignal = async (event, svc) => {
  svc.signal.addEventListener("abort", () => console.log("aborted: " + svc.signal.reason.name))
  await new Promise(() => {})
}
export const zombie = async (event, svc) => {
  svc.signal.addEventListener("abort", () => { setTimeout(() => svc.events.publish({ type: "zombie" }), 1) })
  for (;;) { await sleep(5); await svc.events.publish({ type: "alive" }) }
}
export const big = (bytes) => "x".repeat(bytes)
export const throws = () => {
  throw new TypeError("no good")
}
export const throwsNull = () => { throw null }
export const returnsFunction = () => () => 1
export const returnsBigInt = () => 1n
export const flood = async (event, svc) => {
  const all = []
  for (let call = 0; call < 2000; call++) all.push(svc.events.publish({ type: "x" }))
  await Promise.all(all)
}
export const floodCaught = async (event, svc) => {
  let refused = 0
  for (let call = 0; call < 1500; call++) svc.events.publish({ type: "x" }).catch((error) => { if (error.name === "LimitExceeded") refused++ })
  await sleep(1)
  return refused
}
export const timerFlood = () => { for (let timer = 0; timer < 5000; timer++) setTimeout(() => {}, 1000) }
export const respond = (request) => request
export const web = async (request) => Response.json({ a: 1 }, { status: 202, headers: { "X-A": "b" } })
export const bytes = () => ({ status: 200, headers: { "content-type": "image/png" }, body: new Uint8Array([1, 2, 3, 4]) })
export const emits = async (event, svc) => [
  await svc.stream.emit("progress", { half: 0.5 }), await svc.stream.emit("nothing"), svc.stream === svc.stream
]
export const emitsNothing = (event, svc) => svc.stream.emit({ type: "progress" }, 1)
export const tools = { twice: (value) => value * 2 }
`

const output = (outcome: Outcome): unknown => {
  if (outcome._tag !== "Returned") throw new Error(`expected a result, got ${JSON.stringify(outcome)}`)
  return JSON.parse(outcome.output)
}

const valueOf = (tenant: Tenant, fn: string, call?: Parameters<Tenant["call"]>[1]) =>
  Effect.map(tenant.call(fn, call), ({ outcome }) => output(outcome))

layer(sandbox({ runners: 2 }), { excludeTestServices: true, timeout: "60 seconds" })("a run in the sandbox", (it) => {
  it.effect("keeps its isolate between calls", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(1, script)
      assert.strictEqual(yield* valueOf(tenant, "count"), 1)
      assert.strictEqual(yield* valueOf(tenant, "count"), 2)
    })
  )

  it.effect("receives its arguments, its data and svc, which is also a global", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(2, script)
      assert.strictEqual(yield* valueOf(tenant, "add", { trigger: "args", svc: { args: [2, 3] } }), 5)
      const svc = { event: { total: 3 }, run: { run_id: "r", attempt: 1 }, caller: null }
      assert.deepStrictEqual(yield* valueOf(tenant, "echo", { svc }), {
        event: { total: 3 },
        same: true,
        run: { run_id: "r", attempt: 1 },
        caller: null
      })
      assert.deepStrictEqual(yield* valueOf(tenant, "invokes"), [3, 8])
      assert.strictEqual(yield* valueOf(tenant, "tools/twice", { trigger: "args", svc: { args: [21] } }), 42)
    })
  )

  it.effect("calls its host, and receives results and refusals as values of its realm", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(3, script)
      const seen: Array<HostCall> = []
      const onHostCall = (call: HostCall) =>
        Effect.sync(() => {
          seen.push(call)
          return '{"event_id":"e1"}'
        })
      assert.deepStrictEqual(yield* valueOf(tenant, "publish", { svc: { event: { a: 1 } }, onHostCall }), {
        event_id: "e1"
      })
      assert.deepStrictEqual(seen, [{ op: "events.publish", payload: '{"type":"order:created","data":{"a":1}}' }])
      const refused = () => Effect.fail(new HostCallRefused({ name: "Forbidden", message: "not yours" }))
      assert.deepStrictEqual(yield* valueOf(tenant, "refused", { onHostCall: refused }), [
        true,
        "Forbidden",
        "not yours"
      ])
      const dies = () => Effect.die(new Error("secret of the host"))
      const [isError, name, message] = (yield* valueOf(tenant, "refused", { onHostCall: dies })) as Array<string>
      assert.deepStrictEqual([isError, name], [true, "HostCallFailed"])
      assert.notInclude(message, "secret")
    })
  )

  it.effect("sends messages to the subscribers of its stream", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(42, script)
      const seen: Array<HostCall> = []
      const onHostCall = (call: HostCall) =>
        Effect.sync(() => {
          seen.push(call)
          return "null"
        })
      assert.deepStrictEqual(yield* valueOf(tenant, "emits", { onHostCall }), [null, null, true])
      assert.deepStrictEqual(seen, [
        { op: "stream.emit", payload: '{"data_type":"progress","payload":{"half":0.5}}' },
        { op: "stream.emit", payload: '{"data_type":"nothing","payload":null}' }
      ])
      const refused = yield* tenant.call("emitsNothing", { onHostCall })
      assert.include(refused.outcome, { _tag: "Threw", name: "BadRequest" })
      assert.lengthOf(seen, 2)
    })
  )

  it.effect("reads the secrets of its project", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(40, script)
      const onHostCall = ({ op, payload }: HostCall) =>
        Effect.succeed(op === "context.all" ? '{"A":"1","__proto__":"2"}' : JSON.stringify(payload))
      const read = (key: unknown) => tenant.call("secret", { svc: { event: key }, onHostCall })
      assert.strictEqual(output((yield* read("A")).outcome), '{"key":"A"}')
      assert.deepStrictEqual(Object.entries(Object(yield* valueOf(tenant, "secrets", { onHostCall }))), [
        ["A", "1"],
        ["__proto__", "2"]
      ])
      assert.include((yield* read(1)).outcome, { _tag: "Threw", name: "BadRequest" })
    })
  )

  it.effect("ends only after its host calls have ended", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(4, script)
      const finished: Array<string> = []
      const onHostCall = () =>
        Effect.as(
          Effect.tap(Effect.sleep("50 millis"), () => Effect.sync(() => finished.push("call"))),
          "null"
        )
      assert.strictEqual(yield* valueOf(tenant, "publishUnawaited", { onHostCall }), null)
      assert.deepStrictEqual(finished, ["call"])
    })
  )

  it.effect("runs timers in order, and fails with the error of a timer", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(5, script)
      assert.deepStrictEqual(yield* valueOf(tenant, "timers"), ["early", "late"])
      const { outcome } = yield* tenant.call("timerThrows")
      assert.deepInclude(outcome, { _tag: "Threw", name: "RangeError", message: "in a timer" })
    })
  )

  it.effect("keeps its own svc and log across awaits while other runs interleave", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(6, script)
      const runs = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => index),
        (event) => {
          const lines: Array<string> = []
          const call = { svc: { event }, onLog: (line: GuestLog) => void lines.push(line.message) }
          return Effect.map(valueOf(tenant, "whoAmI", call), (itself) => ({ event, itself, lines }))
        },
        { concurrency: "unbounded" }
      )
      for (const { event, itself, lines } of runs) {
        assert.isTrue(itself)
        assert.deepStrictEqual(lines, Array(5).fill(`run ${event}`))
      }
    })
  )

  it.effect("logs lines with levels and data, up to its limit", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(7, script)
      const lines: Array<GuestLog> = []
      const onLog = (line: GuestLog) => void lines.push(line)
      yield* valueOf(tenant, "logs", { onLog })
      assert.deepStrictEqual(
        lines.map(({ level, message, data }) => [level, message, data]),
        [
          ["info", "plain 1 { a: 1 }", null],
          ["warn", "careful", '{"code":7}'],
          ["debug", "detail", null]
        ]
      )
      lines.length = 0
      yield* valueOf(tenant, "manyLogs", { onLog })
      assert.isBelow(lines.length, 20_000)
      assert.include(lines.at(-1)?.message, "log limit")
    })
  )

  it.effect("reports its usage", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(8, script)
      const { outcome, usage } = yield* tenant.call("spins")
      assert.strictEqual(outcome._tag, "CpuExhausted")
      assert.isAtLeast(usage.cpu_ms, 400)
      assert.isAtLeast(usage.wall_ms, usage.cpu_ms)
      const quick = yield* tenant.call("count")
      assert.isBelow(quick.usage.cpu_ms, 200)
      assert.isAbove(quick.usage.heap_bytes, 0)
    })
  )

  it.effect("times out while it waits and while it computes", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(9, script)
      for (const fn of ["waits", "spins"]) {
        const { outcome, usage } = yield* tenant.call(fn, { timeoutMs: 150 })
        assert.deepStrictEqual(outcome, { _tag: "TimedOut", limitMs: 150 })
        assert.isBelow(usage.wall_ms, 650)
      }
      assert.strictEqual(yield* valueOf(tenant, "count"), 1)
    })
  )

  it.effect("is cancelled by interruption, also in a loop, and does nothing afterwards", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(10, script)
      yield* valueOf(tenant, "count")
      for (const fn of ["waits", "spins"]) {
        const fiber = yield* Effect.forkChild(tenant.call(fn))
        yield* Effect.sleep("100 millis")
        yield* Fiber.interrupt(fiber)
      }
      const lines: Array<string> = []
      const listening = yield* Effect.forkChild(
        tenant.call("stopsOnSignal", { onLog: (line) => void lines.push(line.message) })
      )
      yield* Effect.sleep("100 millis")
      yield* Fiber.interrupt(listening)
      assert.deepStrictEqual(lines, ["aborted: AbortError"])

      const calls: Array<string> = []
      const alive = yield* Deferred.make<void>()
      const zombie = yield* Effect.forkChild(
        tenant.call("zombie", {
          onHostCall: ({ payload }) =>
            Effect.as(
              Effect.tap(Deferred.succeed(alive, undefined), () => Effect.sync(() => calls.push(payload))),
              "null"
            )
        })
      )
      yield* Deferred.await(alive)
      yield* Fiber.interrupt(zombie)
      const before = calls.length
      yield* Effect.sleep("100 millis")
      assert.strictEqual(calls.length, before)
      assert.isFalse(calls.some((payload) => payload.includes("zombie")))
    })
  )

  it.effect("that is stopped while computing does not affect other runs of the isolate", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(11, script)
      yield* valueOf(tenant, "count")
      const neighbours = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 10 }, () => valueOf(tenant, "timers")),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.sleep("10 millis")
      const { outcome } = yield* tenant.call("spins", { timeoutMs: 100 })
      assert.strictEqual(outcome._tag, "TimedOut")
      const results = yield* Fiber.join(neighbours)
      assert.deepStrictEqual(results, Array(10).fill(["early", "late"]))
    })
  )

  it.effect("fails with its error, mapped to its own lines", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(12, script)
      const line = script.split("\n").findIndex((text) => text.includes("no good")) + 1
      const { outcome } = yield* tenant.call("throws")
      assert.strictEqual(outcome._tag, "Threw")
      if (outcome._tag !== "Threw") return
      assert.deepStrictEqual([outcome.name, outcome.message], ["TypeError", "no good"])
      assert.include(outcome.stack, `index.js:${line}:`)
      assert.notInclude(outcome.stack, "weft:")
      const thrownNull = yield* tenant.call("throwsNull")
      assert.deepStrictEqual(thrownNull.outcome, { _tag: "Threw", name: "Error", message: "null", stack: "" })
      const unknown = yield* tenant.call("nowhere")
      assert.deepInclude(unknown.outcome, { _tag: "Threw", name: "FunctionNotFound" })
    })
  )

  it.effect("fails if its result is not JSON", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(13, script)
      const big = (bytes: number) => tenant.call("big", { trigger: "args", svc: { args: [bytes] } })
      assert.strictEqual((yield* big(1024 * 1024 - 2)).outcome._tag, "Returned")
      assert.deepInclude((yield* big(1024 * 1024 - 1)).outcome, { _tag: "LimitExceeded", limit: "resultBytes" })
      assert.deepInclude((yield* tenant.call("returnsFunction")).outcome, { _tag: "Threw", name: "TypeError" })
      assert.deepInclude((yield* tenant.call("returnsBigInt")).outcome, { _tag: "Threw", name: "TypeError" })
    })
  )

  it.effect("cannot exceed the maximum of pending host calls and timers", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(14, script)
      assert.deepInclude((yield* tenant.call("flood")).outcome, { _tag: "LimitExceeded", limit: "pendingHostCalls" })
      assert.strictEqual(yield* valueOf(tenant, "floodCaught"), 500)
      assert.deepInclude((yield* tenant.call("timerFlood")).outcome, { _tag: "LimitExceeded", limit: "pendingTimers" })
    })
  )

  it.effect("responds if a request triggered it and it returns a status", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(15, script)
      const respond = (request: unknown) =>
        Effect.map(tenant.call("respond", { trigger: "request", svc: { request } }), ({ outcome }) => outcome)
      assert.deepStrictEqual(yield* respond({ status: 201, headers: { "X-A": 1 }, body: { a: 1 } }), {
        _tag: "Responded",
        status: 201,
        headers: Object.assign(Object.create(null), { "x-a": "1" }),
        encoding: "json",
        body: '{"a":1}'
      })
      const text = yield* respond({ status: 200, headers: { "Content-Type": "text/html" }, body: "<p>" })
      assert.deepInclude(text, { encoding: "text", body: "<p>" })
      const json = yield* respond({ status: 200, headers: { "content-type": "application/problem+json" }, body: "x" })
      assert.deepInclude(json, { encoding: "json", body: '"x"' })
      assert.deepInclude(yield* respond({ status: 204 }), { encoding: "text", body: "" })
      const bytes = yield* tenant.call("bytes", { trigger: "request", svc: {} })
      assert.deepInclude(bytes.outcome, { encoding: "base64", body: "AQIDBA==" })
      const web = yield* tenant.call("web", { trigger: "request", svc: {} })
      assert.deepStrictEqual(web.outcome, {
        _tag: "Responded",
        status: 202,
        headers: Object.assign(Object.create(null), { "content-type": "application/json", "x-a": "b" }),
        encoding: "base64",
        body: Buffer.from('{"a":1}').toString("base64")
      })
      assert.deepStrictEqual(yield* respond({ hello: 1 }), { _tag: "Returned", output: '{"hello":1}' })
      assert.deepStrictEqual(yield* respond({ status: "200" }), { _tag: "Returned", output: '{"status":"200"}' })
      for (const wrong of [
        { status: 99999 },
        { status: 199 },
        { status: 200, headers: { "x-a": "1\r\nset-cookie: a" } }
      ]) {
        assert.deepInclude(yield* respond(wrong), { _tag: "Threw", name: "InvalidResponse" })
      }
    })
  )
})
