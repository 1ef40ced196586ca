import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { BuildId, EnvId, RunId } from "../../src/foundation/Ids.ts"
import { utf8Encode } from "../../src/foundation/Utf8.ts"
import { type TrustedModule, trustedSandbox, trustedZip } from "../../src/memory/TrustedSandbox.ts"
import type { TrustedSvc } from "../../src/memory/TrustedSvc.ts"
import { type GuestLog, HostCallRefused, type Invocation, Sandbox } from "../../src/platform/sandbox/Sandbox.ts"

const id = "01890000-0000-7000-8000-000000000001"

const shop: TrustedModule = {
  main: {
    add: (a: number, b: number) => a + b,
    silent: () => undefined,
    cyclic: () => {
      const self: Record<string, unknown> = {}
      self.self = self
      return self
    },
    fail: () => {
      throw new TypeError("no stock")
    },
    huge: () => "x".repeat(1_048_577),
    forever: () => new Promise(() => {}),
    publish: async (event: { event_data: number }, svc: TrustedSvc) => {
      svc.log.info("got", event.event_data)
      return await svc.events.publish({ type: "next", data: event.event_data })
    },
    twice: async (_: unknown, svc: TrustedSvc) => [await svc.invoke("main/add", [1, 1]), svc.run],
    page: Object.assign((request: { query: Record<string, unknown> }) => request.query, {
      meta: { webhook: { service: "shop", path: "/page" } }
    })
  }
}

const layer = trustedSandbox({ shop })

const invoke = (name: string, more: Partial<Invocation> = {}) =>
  Effect.flatMap(Sandbox, (sandbox) =>
    sandbox.invoke({
      run_id: RunId.make(id),
      bundle: {
        env_id: EnvId.make(id),
        build_id: BuildId.make(id),
        artifact: Effect.succeed(trustedZip("shop")),
        renewed: Effect.succeed(trustedZip("shop"))
      },
      fn: { ns: "main", var: name },
      svc: JSON.stringify({ args: [], event: null, request: null, tick: null }),
      trigger: "args",
      timeoutMs: 1000,
      onHostCall: () => Effect.succeed("null"),
      onLog: () => {},
      ...more
    })
  ).pipe(
    Effect.map((execution) => execution.outcome),
    Effect.provide(layer)
  )

const respond = (query: unknown) => invoke("page", { trigger: "request", svc: JSON.stringify({ request: { query } }) })

describe("trustedSandbox", () => {
  it.effect("prepares the functions of a module in order and rejects unknown modules", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const prepared = yield* sandbox.prepare(trustedZip("shop"))
      const names = prepared.functions.map((fn) => fn.var)
      assert.deepStrictEqual(names, [...names].sort())
      assert.deepStrictEqual(prepared.functions.find((fn) => fn.var === "page")?.meta, {
        webhook: { service: "shop", path: "/page" }
      })
      assert.strictEqual((yield* Effect.flip(sandbox.check(utf8Encode("toString"))))._tag, "BundleRejected")
    }).pipe(Effect.provide(layer))
  )

  it.effect("returns values as JSON text", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* invoke("add", { svc: '{"args":[1,2]}' }), { _tag: "Returned", output: "3" })
      assert.deepStrictEqual(yield* invoke("silent"), { _tag: "Returned", output: "null" })
      assert.strictEqual((yield* invoke("cyclic"))._tag, "Threw")
      assert.strictEqual((yield* invoke("huge"))._tag, "LimitExceeded")
    })
  )

  it.effect("reports thrown errors", () =>
    Effect.gen(function* () {
      const outcome = yield* invoke("fail")
      assert.include(outcome, { _tag: "Threw", name: "TypeError", message: "no stock" })
      assert.include(yield* invoke("toString"), { _tag: "Threw", name: "ReferenceError" })
    })
  )

  it.effect("passes on host calls, logs and calls of other functions", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      const logs: Array<GuestLog> = []
      const outcome = yield* invoke("publish", {
        trigger: "event",
        svc: '{"event":{"event_data":7}}',
        onHostCall: (call) =>
          Effect.sync(() => {
            calls.push(`${call.op} ${call.payload}`)
            return '{"event_id":"e"}'
          }),
        onLog: (line) => logs.push(line)
      })
      assert.deepStrictEqual(outcome, { _tag: "Returned", output: '{"event_id":"e"}' })
      assert.deepStrictEqual(calls, ['events.publish {"type":"next","data":7}'])
      assert.deepStrictEqual(logs, [{ level: "info", message: "got", data: "7", time: 0 }])
      assert.deepStrictEqual(yield* invoke("twice", { trigger: "event", svc: '{"event":null,"run":"r"}' }), {
        _tag: "Returned",
        output: '[2,"r"]'
      })
    })
  )

  it.effect("rejects the promise of a refused host call", () =>
    Effect.gen(function* () {
      const outcome = yield* invoke("publish", {
        trigger: "event",
        svc: '{"event":{"event_data":7}}',
        onHostCall: () => new HostCallRefused({ name: "Forbidden", message: "no" })
      })
      assert.include(outcome, { _tag: "Threw", name: "Forbidden", message: "no" })
    })
  )

  it.effect("normalizes responses", () =>
    Effect.gen(function* () {
      const plain = { "Content-Type": "text/plain" }
      assert.deepStrictEqual(yield* respond({ status: 201, headers: plain, body: "hi" }), {
        _tag: "Responded",
        status: 201,
        headers: { "content-type": "text/plain" },
        encoding: "text",
        body: "hi"
      })
      assert.include(yield* respond({ status: 200, body: "hi" }), { encoding: "json", body: '"hi"' })
      assert.include(yield* respond({ status: 204 }), { encoding: "text", body: "" })
      assert.deepInclude(
        yield* respond({ status: 200, headers: { "Set-Cookie": ["a=1", "b=2"], "X-A": ["1", "2"] } }),
        {
          headers: { "set-cookie": ["a=1", "b=2"], "x-a": "1, 2" }
        }
      )
      assert.include(yield* respond({ status: 99 }), { _tag: "Threw", name: "RangeError" })
      assert.include(yield* respond({ status: 200, headers: { "a b": "c" } }), { _tag: "Threw", name: "TypeError" })
      assert.include(yield* respond({ status: "200" }), { _tag: "Returned", output: '{"status":"200"}' })
    })
  )

  it.effect("ends a function that takes longer than its timeout", () =>
    Effect.gen(function* () {
      const run = yield* Effect.forkChild(invoke("forever"))
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(yield* Fiber.join(run), { _tag: "TimedOut", limitMs: 1000 })
    })
  )
})
