import { assert, describe, it } from "vitest"
import { Guest } from "./Guest.ts"

const there =
  "AbortController AbortSignal Blob ByteLengthQueuingStrategy CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException Event EventTarget File FormData Headers Performance ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLSearchParams WritableStream WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearInterval clearTimeout fetch queueMicrotask setInterval setTimeout structuredClone".split(
    " "
  )

describe("the global object", () => {
  it("has the platform's functions and classes by name, not enumerable", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      return ${JSON.stringify(there)}.map((name) => {
        const before = Object.getOwnPropertyDescriptor(globalThis, name).enumerable
        const value = globalThis[name]
        const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name)
        return [name, typeof value, value.name, before, writable, enumerable, configurable]
      })`)
    assert.deepStrictEqual(
      answer,
      there.map((name) => [name, "function", name, false, true, false, true])
    )
  })

  it("is self, and has its objects", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      return [self === globalThis, crypto instanceof Crypto, crypto.subtle instanceof SubtleCrypto, performance instanceof Performance,
        Object.prototype.toString.call(console), Object.keys(globalThis)]`)
    assert.deepStrictEqual(answer, [true, true, true, true, "[object console]", []])
  })

  it("has nothing of the host", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      return ["process", "require", "Buffer", "global", "module", "exports", "setImmediate", "platform", "install"].map((name) => typeof globalThis[name])`)
    assert.deepStrictEqual(answer, new Array(9).fill("undefined"))
  })

  it("returns values that guests assign, before and after the first use", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      globalThis.URL = "mine"
      const before = URL
      void Headers
      Headers = "too"
      class Local extends Blob {}
      return [before, Headers, new Local(["x"]).size]`)
    assert.deepStrictEqual(answer, ["mine", "too", 1])
  })

  it("returns the same object each time, and classes that work together", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      return [URL === URL, new URL("http://a").searchParams instanceof URLSearchParams, new Response("x").body instanceof ReadableStream,
        new Response().headers instanceof Headers, new AbortController().signal instanceof EventTarget, new File([], "f") instanceof Blob,
        AbortSignal.abort().reason instanceof DOMException, new Request("http://a").signal instanceof AbortSignal]`)
    assert.deepStrictEqual(answer, new Array(8).fill(true))
  })

  it("does not let guests construct internal classes", async () => {
    const guest = await Guest.start()
    for (const name of ["AbortSignal", "Crypto", "CryptoKey", "SubtleCrypto", "ReadableStreamDefaultController"]) {
      assert.deepStrictEqual(await guest.run(`new ${name}()`), { thrown: "TypeError" }, name)
    }
  })
})
