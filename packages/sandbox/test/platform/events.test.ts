import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest, timersMax } from "./Guest.ts"

describe("EventTarget", () => {
  sameAsNode({
    "calls listeners once each, in order": `
      const seen = []
      const target = new EventTarget()
      const listener = (event) => seen.push(event.type)
      target.addEventListener("x", listener)
      target.addEventListener("x", listener)
      target.addEventListener("x", { handleEvent(event) { seen.push(event.target === target, this !== undefined) } })
      target.addEventListener("x", () => seen.push("once"), { once: true })
      const event = new Event("x")
      target.dispatchEvent(event)
      target.dispatchEvent(new Event("x"))
      target.removeEventListener("x", listener)
      target.dispatchEvent(new Event("x"))
      return [seen, event.currentTarget, event.target === target, event.eventPhase]`,
    "prevents cancelable defaults": `
      const target = new EventTarget()
      target.addEventListener("x", (event) => event.preventDefault())
      target.addEventListener("p", (event) => event.preventDefault(), { passive: true })
      return [target.dispatchEvent(new Event("x")), target.dispatchEvent(new Event("x", { cancelable: true })), target.dispatchEvent(new Event("p", { cancelable: true }))]`,
    "stops immediately, and skips listeners removed during the dispatch": `
      const seen = []
      const target = new EventTarget()
      const removed = () => seen.push("removed")
      target.addEventListener("x", () => { seen.push(1); target.removeEventListener("x", removed); target.addEventListener("x", () => seen.push("late")) })
      target.addEventListener("x", removed)
      target.addEventListener("x", (event) => { seen.push(2); event.stopImmediatePropagation() })
      target.addEventListener("x", () => seen.push("never"))
      target.dispatchEvent(new Event("x"))
      return seen`,
    "listens until a signal aborts": `
      let count = 0
      const target = new EventTarget()
      const controller = new AbortController()
      target.addEventListener("x", () => count++, { signal: controller.signal })
      target.dispatchEvent(new Event("x"))
      controller.abort()
      target.dispatchEvent(new Event("x"))
      target.addEventListener("x", () => count++, { signal: controller.signal })
      target.dispatchEvent(new Event("x"))
      return count`,
    "rejects a value that is not an event": `return new EventTarget().dispatchEvent({ type: "x" })`,
    "rejects an event during its dispatch": `
      const target = new EventTarget()
      let name
      target.addEventListener("x", (event) => { try { target.dispatchEvent(event) } catch (error) { name = error.name } })
      target.dispatchEvent(new Event("x"))
      return [typeof name]`,
    "has details, flags and constants": `
      const event = new CustomEvent("x", { detail: { a: 1 }, bubbles: true, cancelable: true })
      return [event.detail, event.bubbles, event.cancelable, event.composed, event.isTrusted, event.defaultPrevented, new CustomEvent("y").detail,
        Event.AT_TARGET, Object.prototype.toString.call(event), event instanceof Event, CustomEvent.name]`
  })

  it("sets target and phase of the event for listeners", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const target = new EventTarget()
      const seen = []
      target.addEventListener("x", (event) => seen.push("later"))
      target.addEventListener("x", (event) => {
        seen.push(event.currentTarget === target, event.eventPhase, event.composedPath()[0] === target)
      }, { capture: true })
      target.addEventListener("x", null)
      target.dispatchEvent(new Event("x"))
      return seen`)
    assert.deepStrictEqual(answer, [true, 2, true, "later"])
  })

  it("logs an error of a listener and continues", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const target = new EventTarget()
      target.addEventListener("x", () => { throw new RangeError("oops") })
      let reached = false
      target.addEventListener("x", () => { reached = true })
      return [target.dispatchEvent(new Event("x")), reached]`)
    assert.deepStrictEqual(answer, [true, true])
    assert.lengthOf(guest.logs, 1)
    assert.match(guest.logs[0]?.message ?? "", /^Uncaught RangeError: oops\n/)
  })
})

describe("DOMException", () => {
  sameAsNode({
    "has names and codes": `
      const errors = [new DOMException(), new DOMException("m"), new DOMException("m", "AbortError"), new DOMException("m", "Own"), new DOMException("m", { name: "DataCloneError", cause: 7 })]
      return errors.map((e) => [e.name, e.message, e.code, e.cause, String(e), e instanceof Error, Object.prototype.toString.call(e), typeof e.stack])`,
    "has constants": `return [DOMException.ABORT_ERR, DOMException.DATA_CLONE_ERR, DOMException.prototype.INVALID_STATE_ERR, DOMException.NO_MODIFICATION_ALLOWED_ERR, DOMException.HIERARCHY_REQUEST_ERR]`
  })
})

describe("AbortSignal", () => {
  sameAsNode({
    "aborts once, with its reason": `
      const controller = new AbortController()
      const seen = []
      controller.signal.onabort = (event) => seen.push(["on", event.type])
      controller.signal.addEventListener("abort", function () { seen.push(["listener", this === controller.signal]) })
      controller.abort("first")
      controller.abort("second")
      return [seen, controller.signal.aborted, controller.signal.reason]`,
    "has an AbortError as default reason": `
      const { reason } = AbortSignal.abort()
      return [reason.name, reason.code, reason instanceof DOMException, AbortSignal.abort(0).reason, AbortSignal.abort(null).reason]`,
    "throws its reason": `AbortSignal.abort(new RangeError("x")).throwIfAborted()`,
    "cannot be constructed": `return new AbortSignal()`,
    "any accepts only signals": `return AbortSignal.any([{}])`
  })

  // Node calls the listeners of dependent signals in another order than the standard.
  it("any depends on all sources, also indirectly", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const [a, b] = [new AbortController(), new AbortController()]
      const any = AbortSignal.any([a.signal, b.signal])
      const outer = AbortSignal.any([any])
      const order = []
      outer.addEventListener("abort", () => order.push("outer", any.aborted))
      any.addEventListener("abort", () => order.push("any"))
      b.signal.addEventListener("abort", () => order.push("b", any.aborted, outer.aborted))
      b.abort("why")
      a.abort("late")
      return [order, any.reason, outer.reason, AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort(1), a.signal]).reason]`)
    assert.deepStrictEqual(answer, [["b", true, true, "any", "outer", true], "why", "why", false, 1])
  })

  it("times out, but not too early", async () => {
    const guest = await Guest.start()
    guest.evaluate("globalThis.signal = AbortSignal.timeout(1000)")
    await guest.advance(999)
    assert.strictEqual(guest.evaluate("signal.aborted"), false)
    await guest.advance(1)
    assert.strictEqual(guest.evaluate("signal.reason.name + signal.reason.code"), "TimeoutError23")
  })
})

describe("timers", () => {
  it("fire in order of their time, then of their start, with their arguments", async () => {
    const guest = await Guest.start()
    guest.evaluate(`
      globalThis.seen = []
      setTimeout((...args) => seen.push(args), 20, "b", 1)
      setTimeout(() => seen.push("a"), 10)
      setTimeout(() => seen.push("c"), 20)
      setTimeout(() => { seen.push("now"); queueMicrotask(() => seen.push("micro")) })
      setTimeout(() => seen.push("next"), 1)
      clearTimeout(setTimeout(() => seen.push("never"), 5))
      clearTimeout(undefined); clearTimeout({}); clearInterval(999)`)
    await guest.advance(50)
    assert.strictEqual(
      guest.evaluate("JSON.stringify(seen)"),
      JSON.stringify(["now", "micro", "next", "a", ["b", 1], "c"])
    )
  })

  it("wrap delays of 32 bits and more around, as browsers do", async () => {
    const guest = await Guest.start()
    guest.evaluate(`
      globalThis.seen = []
      for (const delay of [2 ** 31, 2 ** 32, Infinity, -1, NaN, 2 ** 32 + 20, 2 ** 31 - 1]) {
        setTimeout(() => seen.push(String(delay)), delay)
      }`)
    await guest.advance(10)
    assert.strictEqual(
      guest.evaluate("JSON.stringify(seen)"),
      JSON.stringify([String(2 ** 31), String(2 ** 32), "Infinity", "-1", "NaN"])
    )
    await guest.advance(20)
    assert.strictEqual(guest.evaluate("seen.length"), 6)
  })

  it("repeat until they are cleared, even from within", async () => {
    const guest = await Guest.start()
    guest.evaluate(
      "globalThis.count = 0; const interval = setInterval(() => { if (++count === 3) clearInterval(interval) }, 10)"
    )
    await guest.advance(25)
    assert.strictEqual(guest.evaluate("count"), 2)
    await guest.advance(100)
    assert.strictEqual(guest.evaluate("count"), 3)
    assert.strictEqual(guest.pendingTimers, 0)
  })

  it("pass their errors to the kernel; an interval continues", async () => {
    const guest = await Guest.start()
    guest.evaluate("globalThis.count = 0; setInterval(() => { count++; throw new Error('tick') }, 10)")
    for (const count of [1, 2]) {
      const thrown = await guest.advance(10).then(
        () => null,
        (error) => error.message
      )
      assert.strictEqual(thrown, "tick")
      assert.strictEqual(guest.evaluate("count"), count)
    }
  })

  it("are rejected above the maximum, and usable again below it", async () => {
    const guest = await Guest.start()
    assert.deepStrictEqual(
      await guest.run(`
        let started = 0
        try { while (true) { setTimeout(() => undefined, 10); started++ } } catch (error) { return [started, error.name] }`),
      [timersMax, "RangeError"]
    )
    await guest.advance(10)
    assert.strictEqual(guest.evaluate("typeof setTimeout(() => undefined, 10)"), "number")
  })

  it("of an ended run never fire", async () => {
    const guest = await Guest.start()
    guest.evaluate("globalThis.fired = false; globalThis.id = setTimeout(() => { fired = true }, 10)")
    guest.dropTimers()
    await guest.advance(100)
    guest.evaluate("clearTimeout(id)")
    assert.strictEqual(guest.evaluate("fired"), false)
  })

  it("accept only functions", async () => {
    const guest = await Guest.start()
    assert.deepStrictEqual(await guest.run(`setTimeout("globalThis.x = 1")`), { thrown: "TypeError" })
    assert.deepStrictEqual(await guest.run(`setInterval(undefined, 1)`), { thrown: "TypeError" })
    assert.deepStrictEqual(await guest.run(`queueMicrotask({})`), { thrown: "TypeError" })
  })

  it("use the clock of performance", async () => {
    const guest = await Guest.start()
    await guest.advance(1234)
    assert.strictEqual(guest.evaluate("performance.now()"), 1234)
    const origin = guest.evaluate("performance.timeOrigin")
    assert.isNumber(origin)
    assert.deepStrictEqual(await guest.run("return performance.toJSON()"), { timeOrigin: origin })
  })
})

describe("queueMicrotask", () => {
  it("logs an error of the callback", async () => {
    const guest = await Guest.start()
    await guest.run(`queueMicrotask(() => { throw new TypeError("micro") }); await null; await null; return 1`)
    assert.match(guest.logs[0]?.message ?? "", /^Uncaught TypeError: micro/)
  })

  sameAsNode({
    "runs before later callbacks": `
      const seen = []
      Promise.resolve().then(() => seen.push(1))
      queueMicrotask(() => seen.push(2))
      Promise.resolve().then(() => seen.push(3))
      await new Promise((resolve) => queueMicrotask(resolve))
      return seen`
  })
})
