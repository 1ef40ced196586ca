/** The host calls of `WebSocket`, and its handling of their results. */
import { assert, describe, it } from "vitest"
import { callBytesMax, Guest } from "./Guest.ts"

interface Asked {
  readonly op: string
  readonly [field: string]: unknown
}

const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64")
const message = (data: string, more = false) => ({ binary: false, data, more })
const bytes = (data: string, more = false) => ({ binary: true, data: base64(data), more })
const ended = (code: number, reason = "", clean = true) => ({ messages: [], end: { code, reason, clean } })

/** Returns a guest whose host opens each WebSocket and then gives these answers to `websocket.receive`. */
const guestOf = async (received: ReadonlyArray<unknown>, opened: unknown = { protocol: "" }) => {
  const guest = await Guest.start()
  const asked: Array<Asked> = []
  const answers = [...received]
  guest.onCall = async (op, payload) => {
    assert.isAtMost(Buffer.byteLength(payload), callBytesMax)
    asked.push({ op, ...JSON.parse(payload) })
    if (op === "websocket.open") {
      if (opened instanceof Error) {
        throw guest.evaluate(`Object.assign(new Error(${JSON.stringify(opened.message)}), { name: "TypeError" })`)
      }
      return opened === null ? new Promise(() => undefined) : JSON.stringify(opened)
    }
    if (op !== "websocket.receive") return "null"
    const next = answers.shift()
    return next === undefined ? new Promise(() => undefined) : JSON.stringify(next)
  }
  return { guest, asked, ops: () => asked.map(({ op }) => op) }
}

/** Collects all events of `socket` in `events`. */
const listening = `
  const events = []
  for (const type of ["open", "message", "error", "close"]) {
    socket.addEventListener(type, (event) => events.push([type, event.data ?? event.code ?? event.message ?? socket.readyState]))
  }
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve))`

describe("WebSocket", () => {
  it("rejects invalid URLs and subprotocols before any host call", async () => {
    const { guest, asked } = await guestOf([])
    const result = await guest.run(`
      const attempt = (...args) => { try { new WebSocket(...args); return "made" } catch (error) { return error.name } }
      return [attempt(), attempt("no url"), attempt("ftp://a"), attempt("ws://a#f"), attempt("ws://a#"), attempt("ws://a", "a b"),
        attempt("ws://a", ["x", "x"]), attempt("ws://a", [""]), attempt("blob:a")]`)
    assert.deepStrictEqual(result, ["TypeError", ...new Array(8).fill("SyntaxError")])
    assert.deepStrictEqual(asked, [])
  })

  it("opens, delivers messages in order and ends with the code of the server", async () => {
    const { guest, asked } = await guestOf(
      [
        { messages: [message("one"), message("hal", true)], end: null },
        { messages: [message("ves"), bytes("abc", true)], end: null },
        { messages: [bytes("de")], end: null },
        ended(4000, "bye")
      ],
      { protocol: "chat" }
    )
    const result = await guest.run(`
      const socket = new WebSocket("http://a.example/path", ["chat", "other"])
      socket.binaryType = "arraybuffer"
      const before = [socket.readyState, socket.url, socket.protocol, socket.extensions, socket.bufferedAmount]
      ${listening}
      const { code, reason, wasClean, constructor } = await closed
      for (const event of events) if (event[1] instanceof ArrayBuffer) event[1] = new TextDecoder().decode(event[1])
      return { before, events, code, reason, wasClean, name: constructor.name, protocol: socket.protocol, state: socket.readyState }`)
    assert.deepStrictEqual(result, {
      before: [0, "ws://a.example/path", "", "", 0],
      events: [
        ["open", 1],
        ["message", "one"],
        ["message", "halves"],
        ["message", "abcde"],
        ["close", 4000]
      ],
      code: 4000,
      reason: "bye",
      wasClean: true,
      name: "CloseEvent",
      protocol: "chat",
      state: 3
    })
    assert.deepInclude(asked[0], { op: "websocket.open", url: "ws://a.example/path", protocols: ["chat", "other"] })
  })

  it("lets a promise continue between two messages", async () => {
    const { guest } = await guestOf([{ messages: [message("1"), message("2"), message("3")], end: null }])
    const result = await guest.run(`
      const socket = new WebSocket("ws://a")
      const next = async () => (await new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }))).data
      return [await next(), await next(), await next()]`)
    assert.deepStrictEqual(result, ["1", "2", "3"])
  })

  it("sends what the guest sends, in order and in pieces, and counts the bytes that wait", async () => {
    const { guest, asked } = await guestOf([])
    const result = await guest.run(`
      const socket = new WebSocket("ws://a")
      const early = (() => { try { socket.send("a") } catch (error) { return error.name } })()
      await new Promise((resolve) => { socket.onopen = resolve })
      socket.send("é")
      socket.send(new Uint8Array(100000).fill(1).subarray(1))
      socket.send(new Blob(["blob"]))
      socket.send(new DataView(new ArrayBuffer(3), 1))
      socket.send("\\ud800")
      const amount = socket.bufferedAmount
      socket.close(3000, "done")
      while (socket.bufferedAmount > 0) await undefined
      return [early, amount, socket.readyState]`)
    assert.deepStrictEqual(result, ["InvalidStateError", 2 + 99_999 + 4 + 2 + 3, 2])
    await new Promise(setImmediate)
    const sent: Array<{ binary: unknown; data: string }> = []
    let pieces = ""
    for (const { op, binary, bytes: data, more } of asked) {
      if (op !== "websocket.send") continue
      pieces += Buffer.from(String(data), "base64").toString("latin1")
      if (more === true) continue
      sent.push({ binary, data: pieces })
      pieces = ""
    }
    assert.deepStrictEqual(
      sent.map(({ binary, data }) => [binary, data.length]),
      [
        [false, 2],
        [true, 99_999],
        [true, 4],
        [true, 2],
        [false, 3]
      ]
    )
    assert.strictEqual(Buffer.from(sent[4]?.data ?? "", "latin1").toString(), "\ufffd")
    const { op, code, reason } = asked.at(-1) ?? { op: "" }
    assert.deepStrictEqual([op, code, reason], ["websocket.close", 3000, "done"])
  })

  it("fails with an error and a close event if the host refuses it", async () => {
    const { guest } = await guestOf([], new Error("port 22 is not allowed here"))
    const result = await guest.run(`
      const socket = new WebSocket("ws://a")
      ${listening}
      const { code, wasClean } = await closed
      return [events, code, wasClean, socket.readyState]`)
    assert.deepStrictEqual(result, [
      [
        ["error", "port 22 is not allowed here"],
        ["close", 1006]
      ],
      1006,
      false,
      3
    ])
  })

  it("fails without a run", async () => {
    const { guest } = await guestOf([])
    guest.onCall = null
    const result = await guest.run(`
      const socket = new WebSocket("ws://a")
      ${listening}
      await closed
      return events`)
    assert.deepStrictEqual(result, [
      ["error", "no run is in progress"],
      ["close", 1006]
    ])
  })

  it("can be closed before it is open, and then cancels the connection", async () => {
    const { guest, ops } = await guestOf([], null)
    const running = guest.run(`
      const socket = new WebSocket("ws://a")
      ${listening}
      socket.close()
      const state = socket.readyState
      await closed
      socket.send("ignored")
      return [state, events, socket.bufferedAmount]`)
    await guest.advance(10)
    assert.deepStrictEqual(await running, [
      2,
      [
        ["error", "the WebSocket was closed before it was open"],
        ["close", 1006]
      ],
      7
    ])
    assert.deepStrictEqual(ops(), ["websocket.open", "websocket.cancel"])
  })

  it("rejects other close codes and long reasons", async () => {
    const { guest } = await guestOf([])
    const result = await guest.run(`
      const socket = new WebSocket("ws://a")
      const attempt = (...args) => { try { socket.close(...args); return "closed" } catch (error) { return error.name } }
      return [attempt(1001), attempt(2999), attempt(5000), attempt(NaN), attempt(1000, "é".repeat(62)), attempt(1000, "a".repeat(123))]`)
    assert.deepStrictEqual(result, [...new Array(4).fill("InvalidAccessError"), "SyntaxError", "closed"])
  })

  it("has the constants and the shape of the standard", async () => {
    const { guest } = await guestOf([])
    const result = await guest.run(`
      const socket = new WebSocket("ws://a", { protocols: "p", headers: { authorization: "Bearer x" } })
      socket.binaryType = "other"
      const names = ["CONNECTING", "OPEN", "CLOSING", "CLOSED"].map((name) => [WebSocket[name], socket[name]])
      return [names, socket.binaryType, Object.prototype.toString.call(socket), typeof socket.onmessage, new CloseEvent("close").code,
        socket instanceof EventTarget]`)
    assert.deepStrictEqual(result, [
      [0, 1, 2, 3].map((state) => [state, state]),
      "blob",
      "[object WebSocket]",
      "object",
      0,
      true
    ])
  })
})
