/** The Minimum Common API of WinterTC (ECMA-429), name by name. */
import { assert, describe, it } from "vitest"
import { Guest } from "./Guest.ts"

/** Interfaces with the members that must be on their prototypes. */
const interfaces: Readonly<Record<string, string>> = {
  AbortController: "abort signal",
  AbortSignal: "aborted onabort reason throwIfAborted",
  Blob: "arrayBuffer bytes size slice stream text type",
  ByteLengthQueuingStrategy: "highWaterMark size",
  CompressionStream: "readable writable",
  CountQueuingStrategy: "highWaterMark size",
  Crypto: "getRandomValues randomUUID subtle",
  CryptoKey: "algorithm extractable type usages",
  CustomEvent: "detail",
  DOMException: "code message name",
  DecompressionStream: "readable writable",
  ErrorEvent: "colno error filename lineno message",
  Event:
    "bubbles cancelable composed composedPath currentTarget defaultPrevented eventPhase preventDefault stopImmediatePropagation stopPropagation target timeStamp type",
  EventTarget: "addEventListener dispatchEvent removeEventListener",
  File: "lastModified name",
  FormData: "append delete entries forEach get getAll has keys set values",
  Headers: "append delete entries forEach get getSetCookie has keys set values",
  MessageChannel: "port1 port2",
  MessageEvent: "data lastEventId origin ports source",
  MessagePort: "close onmessage onmessageerror postMessage start",
  PromiseRejectionEvent: "promise reason",
  ReadableByteStreamController: "byobRequest close desiredSize enqueue error",
  ReadableStream: "cancel getReader locked pipeThrough pipeTo tee",
  ReadableStreamBYOBReader: "cancel closed read releaseLock",
  ReadableStreamBYOBRequest: "respond respondWithNewView view",
  ReadableStreamDefaultController: "close desiredSize enqueue error",
  ReadableStreamDefaultReader: "cancel closed read releaseLock",
  Request: "arrayBuffer blob body bodyUsed bytes clone formData headers json method redirect signal text url",
  Response:
    "arrayBuffer blob body bodyUsed bytes clone formData headers json ok redirected status statusText text type url",
  SubtleCrypto:
    "decrypt deriveBits deriveKey digest encrypt exportKey generateKey importKey sign unwrapKey verify wrapKey",
  TextDecoder: "decode encoding fatal ignoreBOM",
  TextDecoderStream: "encoding fatal ignoreBOM readable writable",
  TextEncoder: "encode encodeInto encoding",
  TextEncoderStream: "encoding readable writable",
  TransformStream: "readable writable",
  TransformStreamDefaultController: "desiredSize enqueue error terminate",
  URL: "hash host hostname href origin password pathname port protocol search searchParams toJSON toString username",
  URLPattern: "exec hash hostname password pathname port protocol search test username",
  URLSearchParams: "append delete entries forEach get getAll has keys set size sort toString values",
  WritableStream: "abort close getWriter locked",
  WritableStreamDefaultController: "error signal",
  WritableStreamDefaultWriter: "abort close closed desiredSize ready releaseLock write"
}

const functions =
  "atob btoa clearInterval clearTimeout fetch queueMicrotask reportError setInterval setTimeout structuredClone".split(
    " "
  )

describe("the Minimum Common API of WinterTC", () => {
  it("has every interface, with its members on the prototype", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const missing = []
      for (const [name, members] of Object.entries(${JSON.stringify(interfaces)})) {
        const value = globalThis[name]
        if (typeof value !== "function" || value.name !== name) { missing.push(name); continue }
        for (const member of members.split(" ")) if (!(member in value.prototype)) missing.push(name + "." + member)
      }
      return missing`)
    assert.deepStrictEqual(answer, [])
  })

  it("has enumerable members with a tag of the interface, as Web IDL requires", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const wrong = []
      for (const [name, members] of Object.entries(${JSON.stringify(interfaces)})) {
        const { prototype } = globalThis[name]
        if (prototype[Symbol.toStringTag] !== name) wrong.push(name)
        for (const member of members.split(" ")) {
          const own = Object.getOwnPropertyDescriptor(prototype, member)
          if (own !== undefined && !own.enumerable) wrong.push(name + "." + member)
        }
      }
      return wrong`)
    assert.deepStrictEqual(answer, [])
  })

  it("has every function", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      return ${JSON.stringify(functions)}.filter((name) => typeof globalThis[name] !== "function" || globalThis[name].name !== name)`)
    assert.deepStrictEqual(answer, [])
  })

  it("has the global objects and event handlers", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const handlers = ["onerror", "onunhandledrejection", "onrejectionhandled"]
      return [self === globalThis, typeof navigator.userAgent, typeof performance.now(), typeof performance.timeOrigin,
        typeof console.log, crypto instanceof Crypto, handlers.filter((name) => globalThis[name] !== null)]`)
    assert.deepStrictEqual(answer, [true, "string", "number", "number", "function", true, []])
  })

  it("leaves out WebAssembly, whose memory the limits of an isolate do not cover", async () => {
    const guest = await Guest.start()
    assert.strictEqual(await guest.run("return typeof WebAssembly"), "undefined")
  })
})
