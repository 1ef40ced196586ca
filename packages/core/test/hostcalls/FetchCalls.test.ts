/** The host calls of `fetch` as a broken guest would make them, over a way out that is made up. */
import { assert, describe, it } from "@effect/vitest"
import { Egress, EgressFailed, type EgressRequest, EnvId, RunId } from "@weft/core"
import { Effect, Fiber, Stream } from "effect"
import { makeFetchCalls } from "../../src/hostcalls/FetchCalls.ts"

const idOf = (number: number) => `01890000-0000-7000-8000-${String(number).padStart(12, "0")}`
const run = { run_id: RunId.make(idOf(1)), env_id: EnvId.make(idOf(2)) }
const other = { run_id: RunId.make(idOf(3)), env_id: run.env_id }

const base64 = (text: string) => Buffer.from(text).toString("base64")
const request = { id: 1, method: "GET", url: "http://a", headers: [], redirect: "follow", body: null }

/** Answers with `chunks`, the body that was sent, or never; counts what is open. */
const world = (chunks: ReadonlyArray<string | EgressFailed> = ["answer"]) => {
  const sent: Array<EgressRequest> = []
  const state = { open: 0, sent }
  const egress = Egress.of({
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
    ask: (op: string, payload: unknown, owner = run) => {
      const text = typeof payload === "string" ? payload : JSON.stringify(payload)
      const answer = made.answer(owner, { op, payload: text })
      if (answer === null) throw new Error(`${op} is not answered`)
      return Effect.map(answer, (json): unknown => JSON.parse(json))
    }
  }))
  return { state, calls }
}

const settle = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))

describe("the host calls of fetch", () => {
  it.live("leave other operations to others", () =>
    Effect.gen(function* () {
      const calls = yield* world().calls
      for (const op of ["events.publish", "fetch", "fetch.", "fetch.other", "__proto__", "constructor"]) {
        assert.isNull(calls.answer(run, { op, payload: "{}" }), op)
      }
    })
  )

  it.live("refuse what they cannot read, as TypeErrors, before anything is sent", () =>
    Effect.gen(function* () {
      const { state, calls } = world()
      const { ask } = yield* calls
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
        const error = yield* Effect.flip(ask(op, payload))
        assert.deepStrictEqual([error._tag, error.name], ["HostCallRefused", "TypeError"], JSON.stringify(payload))
      }
      assert.strictEqual(state.sent.length, 0)
      assert.isFalse(yield* ask("fetch.write", { id: 9, bytes: "", done: true }))
      assert.isNull(yield* ask("fetch.cancel", { id: 9 }))
    })
  )

  it.live("give bodies in pieces no larger than asked for, as bytes or text, and then let go", () =>
    Effect.gen(function* () {
      const { state, calls } = world(["abc", "dé", "", "f"])
      const { ask } = yield* calls
      for (const text of [false, true]) {
        assert.deepInclude(yield* ask("fetch.send", request), { status: 200, url: "http://a", redirected: false })
        assert.strictEqual(state.open, 1)
        const pieces: Array<string> = []
        for (let done = false; !done; ) {
          const taken = yield* ask("fetch.read", { id: 1, max: 2, text })
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
        const over = yield* Effect.flip(ask("fetch.read", { id: 1, max: 2, text }))
        assert.strictEqual(over.message, "the response is over")
      }
    })
  )

  it.live("never take a body that broke off for a whole one", () =>
    Effect.gen(function* () {
      const { state, calls } = world(["begun", new EgressFailed({ reason: "broke off" })])
      const { ask } = yield* calls
      yield* ask("fetch.send", request)
      yield* settle
      assert.deepStrictEqual(yield* ask("fetch.read", { id: 1, max: 100, text: true }), { bytes: "begun", done: false })
      assert.strictEqual((yield* Effect.flip(ask("fetch.read", { id: 1, max: 100, text: true }))).message, "broke off")
      assert.strictEqual(state.open, 0)
    })
  )

  it.live("pass bodies on as they come, and stop whoever writes when they are over", () =>
    Effect.gen(function* () {
      const { ask } = yield* world().calls
      yield* ask("fetch.send", { ...request, method: "POST", body: { length: null } })
      assert.isTrue(yield* ask("fetch.write", { id: 1, bytes: base64("one "), done: false }))
      assert.isTrue(yield* ask("fetch.write", { id: 1, bytes: base64("two"), done: true }))
      yield* settle
      assert.deepStrictEqual(yield* ask("fetch.read", { id: 1, max: 100, text: true }), {
        bytes: "one two",
        done: true
      })
      assert.isFalse(yield* ask("fetch.write", { id: 1, bytes: base64("three"), done: false }))
    })
  )

  it.live("belong to one run, under one number at a time", () =>
    Effect.gen(function* () {
      const { ask } = yield* world().calls
      yield* ask("fetch.send", request)
      assert.strictEqual((yield* Effect.flip(ask("fetch.send", request))).message, "the request is in progress")
      const stolen = yield* Effect.flip(ask("fetch.read", { id: 1, max: 10, text: true }, other))
      assert.strictEqual(stolen.message, "the response is over")
      yield* ask("fetch.cancel", { id: 1 }, other)
      assert.deepInclude(yield* ask("fetch.read", { id: 1, max: 10, text: true }), { bytes: "answer" })
    })
  )

  it.live("end when they are cancelled, interrupted, or when their run ends", () =>
    Effect.gen(function* () {
      const { state, calls } = world()
      const { ask, end } = yield* calls
      const hang = (id: number) => ask("fetch.send", { ...request, id, url: "http://hangs" })
      const cancelled = yield* Effect.forkChild(Effect.flip(hang(1)))
      const interrupted = yield* Effect.forkChild(hang(2))
      const ended = yield* Effect.forkChild(Effect.flip(hang(3)))
      yield* ask("fetch.send", { ...request, id: 4 })
      yield* ask("fetch.send", { ...request, id: 5 }, other)
      yield* settle
      assert.strictEqual(state.open, 5)
      yield* ask("fetch.cancel", { id: 1 })
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

  it.live("reach nothing without a way out", () =>
    Effect.gen(function* () {
      const calls = yield* makeFetchCalls
      const answer = calls.answer(run, { op: "fetch.send", payload: JSON.stringify(request) })
      const error = yield* Effect.flip(answer ?? Effect.die("not answered"))
      assert.deepStrictEqual([error.name, error.message], ["TypeError", "this host allows no outbound requests"])
    })
  )
})
