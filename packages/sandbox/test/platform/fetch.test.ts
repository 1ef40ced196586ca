/** The host calls of `fetch`, and its handling of their results. */
import { assert, describe, it } from "vitest"
import { callBytesMax, Guest } from "./Guest.ts"

interface Asked {
  readonly op: string
  readonly [field: string]: unknown
}

const head = {
  status: 200,
  status_text: "OK",
  url: "http://a.example/",
  redirected: false,
  headers: [] as Array<[string, string]>
}
const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64")

/** Returns a guest whose host replies from this table: a value as JSON, an error by name and message, or never for null. */
const guestOf = async (answers: Readonly<Record<string, (asked: Asked, nth: number) => unknown>>) => {
  const guest = await Guest.start()
  const asked: Array<Asked> = []
  const counts = new Map<string, number>()
  guest.onCall = async (op, payload) => {
    assert.isAtMost(Buffer.byteLength(payload), callBytesMax)
    const call: Asked = { op, ...JSON.parse(payload) }
    asked.push(call)
    const nth = counts.get(op) ?? 0
    counts.set(op, nth + 1)
    const answer = answers[op]?.(call, nth) ?? null
    // An error of the guest's realm, as from the kernel.
    if (answer instanceof Refusal) throw guest.evaluate(answer.code)
    if (answer === null && op !== "fetch.cancel") return new Promise(() => undefined)
    return JSON.stringify(answer)
  }
  return { guest, asked, ops: () => asked.map(({ op }) => op) }
}

class Refusal {
  readonly code: string

  constructor(name: string, message: string) {
    this.code = `Object.assign(new Error(${JSON.stringify(message)}), { name: ${JSON.stringify(name)} })`
  }
}

const named = (name: string, message: string) => new Refusal(name, message)

describe("fetch", () => {
  it("sends a small request in one call", async () => {
    const { guest, asked } = await guestOf({
      "fetch.send": () => ({
        ...head,
        headers: [
          ["x", "1"],
          ["set-cookie", "a"],
          ["set-cookie", "b"]
        ]
      }),
      "fetch.read": () => ({ bytes: "hello", done: true })
    })
    const answer = await guest.run(`
      const response = await fetch("http://A.example/p?q#f", { method: "post", headers: { "X-A": "1" }, body: "é", redirect: "error" })
      return [response.status, response.url, response.type, [...response.headers], await response.text(), response.bodyUsed, response.body.locked]`)
    assert.deepStrictEqual(answer, [
      200,
      "http://a.example/",
      "basic",
      [
        ["set-cookie", "a"],
        ["set-cookie", "b"],
        ["x", "1"]
      ],
      "hello",
      true,
      true
    ])
    const [sent, read] = asked
    assert.deepStrictEqual(sent, {
      op: "fetch.send",
      id: 1,
      method: "POST",
      url: "http://a.example/p?q#f",
      redirect: "error",
      headers: [
        ["content-type", "text/plain;charset=UTF-8"],
        ["x-a", "1"]
      ],
      body: { bytes: Buffer.from("é").toString("base64") }
    })
    assert.deepStrictEqual([read?.op, read?.text], ["fetch.read", true])
  })

  it("sends a large body in chunks, each after the previous one, and stops if the host needs no more", async () => {
    const size = callBytesMax * 3
    const wanted = await guestOf({
      "fetch.send": (_, nth) => (nth === 0 ? null : head),
      "fetch.write": () => true
    })
    void wanted.guest.run(`await fetch("http://a", { method: "POST", body: new Uint8Array(${size}).fill(7) })`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const writes = wanted.asked.filter(({ op }) => op === "fetch.write")
    assert.deepStrictEqual(wanted.asked[0]?.body, { length: size })
    assert.strictEqual(Buffer.concat(writes.map(({ bytes }) => Buffer.from(String(bytes), "base64"))).length, size)
    assert.deepStrictEqual(
      writes.map(({ done }) => done),
      [...writes.slice(1).map(() => false), true]
    )
    const unwanted = await guestOf({ "fetch.send": () => null, "fetch.write": () => false })
    void unwanted.guest.run(`await fetch("http://a", { method: "POST", body: new Uint8Array(${size}) })`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepStrictEqual(unwanted.ops(), ["fetch.send", "fetch.write"])
  })

  it("joins chunks: bytes with or without a size, text, streams, clones", async () => {
    const pieces = ["abc", "", "de", "fgh"]
    for (const headers of [
      [],
      [["content-length", "8"]],
      [["content-length", "nonsense"]],
      [["content-length", "20"]]
    ]) {
      const { guest } = await guestOf({
        "fetch.send": () => ({ ...head, headers }),
        "fetch.read": ({ text }, nth) => {
          const piece = pieces[nth % pieces.length] ?? ""
          return { bytes: text === true ? piece : base64(piece), done: nth % pieces.length === pieces.length - 1 }
        }
      })
      const answer = await guest.run(`
        const get = () => fetch("http://a")
        const text = (buffer) => String.fromCharCode(...new Uint8Array(buffer))
        const whole = await (await get()).arrayBuffer()
        const streamed = []
        for await (const chunk of (await get()).body) streamed.push(text(chunk))
        const first = await get()
        const clone = first.clone()
        return [whole.byteLength, text(whole), await (await get()).text(), streamed, text(await (await get()).bytes()),
          await (await (await get()).blob()).text(), await first.text(), text(await clone.arrayBuffer())]`)
      const all = "abcdefgh"
      assert.deepStrictEqual(answer, [8, all, all, ["abc", "de", "fgh"], all, all, all, all], JSON.stringify(headers))
    }
  })

  it("throws the host's refusals as TypeError, and the sandbox's own limits unchanged", async () => {
    const { guest } = await guestOf({
      "fetch.send": ({ url }) =>
        url === "http://limit/" ? named("LimitExceeded", "too much") : named("TypeError", "port 1 is not allowed here")
    })
    const answer = await guest.run(`
      const errorFrom = async (url) => { try { await fetch(url) } catch (error) { return [error instanceof TypeError, error.name, error.message] } }
      return [await errorFrom("http://a:1/"), await errorFrom("http://limit/"), (await errorFrom("nonsense"))[0], (await errorFrom("http://a:b@c/"))[0]]`)
    assert.deepStrictEqual(answer, [
      [true, "TypeError", "fetch failed: port 1 is not allowed here"],
      [false, "LimitExceeded", "too much"],
      true,
      true
    ])
  })

  it("throws for an incomplete body in every reader, at every read", async () => {
    const { guest, asked } = await guestOf({
      "fetch.send": () => head,
      "fetch.read": (_, nth) => (nth % 2 === 0 ? { bytes: base64("x"), done: false } : named("TypeError", "closed"))
    })
    const answer = await guest.run(`
      const reasons = []
      const attempt = async (run) => { try { await run() } catch (error) { reasons.push(error.message) } }
      await attempt(async () => (await fetch("http://a")).arrayBuffer())
      await attempt(async () => (await fetch("http://a")).text())
      const reader = (await fetch("http://a")).body.getReader()
      await reader.read()
      for (let again = 0; again < 2; again++) await attempt(() => reader.read())
      return reasons`)
    assert.deepStrictEqual(answer, new Array(4).fill("fetch failed: closed"))
    assert.isFalse(asked.some(({ op }) => op === "fetch.cancel"))
  })

  it("is aborted by its signal at every point, and cancels at the host once", async () => {
    const { guest, ops } = await guestOf({
      "fetch.send": ({ url }) => (url === "http://hangs/" ? null : head),
      "fetch.read": () => null
    })
    const answer = await guest.run(`
      const outcomes = []
      const attempt = async (run) => {
        const controller = new AbortController()
        const going = run(controller.signal, controller)
        await null; await null
        setTimeout(() => controller.abort("stop"), 1)
        try { await going } catch (reason) { outcomes.push(reason) }
        controller.abort("again")
      }
      const ended = Promise.all([
        attempt((signal) => fetch("http://hangs", { signal })),
        attempt(async (signal) => (await fetch("http://a", { signal })).text()),
        attempt(async (signal) => (await fetch("http://a", { signal })).arrayBuffer()),
        attempt(async (signal) => (await fetch("http://a", { signal })).body.getReader().read())
      ])
      globalThis.outcome = ended.then(() => outcomes)
      try { await fetch("http://a", { signal: AbortSignal.abort("before") }) } catch (reason) { return reason }`)
    assert.strictEqual(answer, "before")
    await guest.advance(5)
    assert.deepStrictEqual(await guest.run("return outcome"), ["stop", "stop", "stop", "stop"])
    assert.strictEqual(ops().filter((op) => op === "fetch.cancel").length, 4)
  })

  it("cancels unread content: cancelled streams, and responses without a body", async () => {
    const { guest, ops } = await guestOf({
      "fetch.send": ({ method }) => (method === "HEAD" ? head : { ...head, status: 204 }),
      "fetch.read": () => ({ bytes: base64("x"), done: false })
    })
    const answer = await guest.run(`
      const [none, empty] = [await fetch("http://a"), await fetch("http://a", { method: "HEAD" })]
      return [none.body, await none.text(), empty.body]`)
    assert.deepStrictEqual(answer, [null, "", null])
    assert.strictEqual(ops().filter((op) => op === "fetch.cancel").length, 2)
    const stream = await guestOf({
      "fetch.send": () => head,
      "fetch.read": () => ({ bytes: base64("x"), done: false })
    })
    await stream.guest.run(`const { body } = await fetch("http://a"); for await (const chunk of body) break`)
    assert.deepStrictEqual(stream.ops(), ["fetch.send", "fetch.read", "fetch.cancel"])
  })

  it("fails with the error of the stream that it sends, and without a run", async () => {
    const { guest, ops } = await guestOf({ "fetch.send": () => null, "fetch.write": () => true })
    const answer = await guest.run(`
      const errorFrom = async (body) => { try { await fetch("http://a", { method: "POST", body }) } catch (error) { return [error.name, error.message] } }
      return [
        await errorFrom(new ReadableStream({ pull() { throw new RangeError("mine") } })),
        await errorFrom(new ReadableStream({ start(controller) { controller.enqueue("text") } }))
      ]`)
    assert.deepStrictEqual(answer, [
      ["RangeError", "mine"],
      ["TypeError", "fetch failed: a chunk of the request's body is not a Uint8Array"]
    ])
    assert.deepStrictEqual(ops(), ["fetch.send", "fetch.cancel", "fetch.send", "fetch.cancel"])
    guest.onCall = null
    assert.deepStrictEqual(
      await guest.run(`try { await fetch("http://a") } catch (error) { return error.message }`),
      "fetch failed: no run is in progress"
    )
  })
})
