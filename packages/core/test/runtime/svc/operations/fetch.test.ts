/** Host calls of `fetch`, as a compromised guest would make them, with a fake egress. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Egress, EgressFailed, type EgressRequest, noEgress } from "@weft/core/adapter"
import { Effect, Fiber, Stream } from "effect"
import { makeOperationCalls } from "../../../../src/runtime/svc/GuestCalls.ts"
import { fetchCancel, fetchRead, fetchSend, fetchWrite } from "../../../../src/runtime/svc/operations/fetch.ts"
import { makeId, makeRun } from "../Runs.ts"

const run = makeRun(EnvId.make(makeId(2)))
const other = makeRun(run.env_id, 3)

const makeFetchCalls = makeOperationCalls([fetchSend, fetchWrite, fetchRead, fetchCancel])

const base64 = (text: string) => Buffer.from(text).toString("base64")
const request = { id: 1, method: "GET", url: "http://a", headers: [], redirect: "follow", body: null }

/** Responds with `chunks`, the body that was sent, or never; counts open requests. */
const world = (chunks: ReadonlyArray<string | EgressFailed> = ["answer"]) => {
  const sent: Array<EgressRequest> = []
  const state = { open: 0, sent }
  const egress = Egress.of({
    ...noEgress,
    send: (_, each) =>
      Effect.gen(function* () {
        sent.push(each)
        yield* Effect.acquireRelease(
          Effect.sync(() => state.open++),
          () => Effect.sync(() => state.open--)
        )
        if (each.url === "http://hangs") return yield* Effect.never
        const echo = each.body !== null && "chunks" in each.body ? each.body.chunks : undefined
        const body = Stream.mapEffect(Stream.fromIterable(chunks), (chunk) =>
          typeof chunk === "string" ? Effect.succeed(new TextEncoder().encode(chunk)) : Effect.fail(chunk)
        )
        return { status: 200, statusText: "", url: each.url, redirected: false, headers: [], body: echo ?? body }
      })
  })
  const calls = Effect.map(Effect.provideService(makeFetchCalls, Egress, egress), (made) => ({
    ...made,
    call: (op: string, payload: unknown, owner = run) => {
      const text = typeof payload === "string" ? payload : JSON.stringify(payload)
      const execute = made.execute.get(op)
      if (execute === undefined) throw new Error(`There is no ${op}`)
      return Effect.map(execute(owner, text, new Set()), (json): unknown => JSON.parse(json))
    }
  }))
  return { state, calls }
}

const settle = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))

describe("the operations of fetch", () => {
  it.live("reject invalid payloads as TypeErrors before anything is sent", () =>
    Effect.gen(function* () {
      const { state, calls } = world()
      const { call } = yield* calls
      const wrong: ReadonlyArray<readonly [op: string, payload: unknown]> = [
        ["fetch.send", "not json"],
        ["fetch.send", null],
        ["fetch.send", { ...request, id: 0 }],
        ["fetch.send", { ...request, id: 1.5 }],
        ["fetch.send", { ...request, url: 1 }],
        ["fetch.send", { ...request, redirect: "maybe" }],
        ["fetch.send", { ...request, headers: [["a"]] }],
        ["fetch.send", { ...request, headers: { a: "b" } }],
        ["fetch.send", { ...request, body: { bytes: "*" } }],
        ["fetch.send", { ...request, body: { length: -1 } }],
        ["fetch.send", { ...request, body: "text" }],
        ["fetch.read", { id: 1, max: 10, text: false }],
        ["fetch.read", { id: 1, max: 0, text: false }],
        ["fetch.read", { id: "1", max: 10, text: false }],
        ["fetch.write", { id: 1, bytes: "=", done: true }],
        ["fetch.cancel", {}]
      ]
      for (const [op, payload] of wrong) {
        const error = yield* Effect.flip(call(op, payload))
        assert.deepStrictEqual([error._tag, error.name], ["HostCallRefused", "TypeError"], JSON.stringify(payload))
      }
      assert.strictEqual(state.sent.length, 0)
      assert.isFalse(yield* call("fetch.write", { id: 9, bytes: "", done: true }))
      assert.isNull(yield* call("fetch.cancel", { id: 9 }))
    })
  )

  it.live("read bodies in pieces up to the requested size, as bytes or text, and close at the end", () =>
    Effect.gen(function* () {
      const { state, calls } = world(["abc", "dé", "", "f"])
      const { call } = yield* calls
      for (const text of [false, true]) {
        assert.deepInclude(yield* call("fetch.send", request), { status: 200, url: "http://a", redirected: false })
        assert.strictEqual(state.open, 1)
        const pieces: Array<string> = []
        for (let done = false; !done; ) {
          const taken = yield* call("fetch.read", { id: 1, max: 2, text })
          const { bytes, done: isLast } = Object(taken)
          if (!text) assert.isAtMost(Buffer.from(bytes, "base64").length, 2)
          pieces.push(bytes)
          done = isLast
        }
        const whole = text
          ? pieces.join("")
          : Buffer.concat(pieces.map((each) => Buffer.from(each, "base64"))).toString()
        assert.strictEqual(whole, "abcdéf")
        assert.strictEqual(state.open, 0)
        const over = yield* Effect.flip(call("fetch.read", { id: 1, max: 2, text }))
        assert.strictEqual(over.message, "the response has ended")
      }
    })
  )

  it.live("fail for a body that is incomplete", () =>
    Effect.gen(function* () {
      const { state, calls } = world(["begun", new EgressFailed({ reason: "broke off" })])
      const { call } = yield* calls
      yield* call("fetch.send", request)
      yield* settle
      assert.deepStrictEqual(yield* call("fetch.read", { id: 1, max: 100, text: true }), {
        bytes: "begun",
        done: false
      })
      assert.strictEqual((yield* Effect.flip(call("fetch.read", { id: 1, max: 100, text: true }))).message, "broke off")
      assert.strictEqual(state.open, 0)
    })
  )

  it.live("stream request bodies, and end writes when the response has ended", () =>
    Effect.gen(function* () {
      const { call } = yield* world().calls
      yield* call("fetch.send", { ...request, method: "POST", body: { length: null } })
      assert.isTrue(yield* call("fetch.write", { id: 1, bytes: base64("one "), done: false }))
      assert.isTrue(yield* call("fetch.write", { id: 1, bytes: base64("two"), done: true }))
      yield* settle
      assert.deepStrictEqual(yield* call("fetch.read", { id: 1, max: 100, text: true }), {
        bytes: "one two",
        done: true
      })
      assert.isFalse(yield* call("fetch.write", { id: 1, bytes: base64("three"), done: false }))
    })
  )

  it.live("belong to one run, with one request per id", () =>
    Effect.gen(function* () {
      const { call } = yield* world().calls
      yield* call("fetch.send", request)
      assert.strictEqual((yield* Effect.flip(call("fetch.send", request))).message, "the request is in progress")
      const stolen = yield* Effect.flip(call("fetch.read", { id: 1, max: 10, text: true }, other))
      assert.strictEqual(stolen.message, "the response has ended")
      yield* call("fetch.cancel", { id: 1 }, other)
      assert.deepInclude(yield* call("fetch.read", { id: 1, max: 10, text: true }), { bytes: "answer" })
    })
  )

  it.live("end when they are cancelled or interrupted, or when their run ends", () =>
    Effect.gen(function* () {
      const { state, calls } = world()
      const { call, end } = yield* calls
      const hang = (id: number) => call("fetch.send", { ...request, id, url: "http://hangs" })
      const cancelled = yield* Effect.forkChild(Effect.flip(hang(1)))
      const interrupted = yield* Effect.forkChild(hang(2))
      const ended = yield* Effect.forkChild(Effect.flip(hang(3)))
      yield* call("fetch.send", { ...request, id: 4 })
      yield* call("fetch.send", { ...request, id: 5 }, other)
      yield* settle
      assert.strictEqual(state.open, 5)
      yield* call("fetch.cancel", { id: 1 })
      assert.strictEqual((yield* Fiber.join(cancelled)).message, "the request was ended")
      assert.strictEqual(state.open, 4)
      yield* Fiber.interrupt(interrupted)
      assert.strictEqual(state.open, 3)
      yield* end(run)
      assert.strictEqual((yield* Fiber.join(ended)).message, "the request was ended")
      assert.strictEqual(state.open, 1)
      yield* end(other)
      assert.strictEqual(state.open, 0)
    })
  )

  it.live("fail without an egress", () =>
    Effect.gen(function* () {
      const { execute } = yield* makeFetchCalls
      const answer = execute.get("fetch.send")?.(run, JSON.stringify(request), new Set())
      const error = yield* Effect.flip(answer ?? Effect.die("There is no fetch.send"))
      assert.deepStrictEqual([error.name, error.message], ["TypeError", "this host allows no outbound requests"])
    })
  )
})
