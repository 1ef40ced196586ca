/**
 * The Web platform inside an isolate.
 *
 * It provides URL, text, events, bodies, timers, streams, crypto, console and `fetch` as in browsers, and nothing of
 * Node. All of it runs in the guest's realm, within the guest's limits, and reaches the host only through the bridge.
 * Each global is created at its first use.
 *
 * It must be bundled; see `modules.ts`.
 */
import type { Bridge } from "../Bridge.ts"
import { defineLazy, defineValue, requireArguments } from "./define.ts"
import { connect } from "./host.ts"
import { modules } from "./modules.ts"
import { listenGlobally, report } from "./report.ts"
import { clearInterval, clearTimeout, dropTimer, fireTimer, setInterval, setTimeout } from "./timers.ts"

/** The globals that are exports of a module, by the same name. */
const fromModules: ReadonlyArray<readonly [load: () => object, names: ReadonlyArray<string>]> = [
  [modules.abort, ["AbortController", "AbortSignal"]],
  [modules.base64, ["atob", "btoa"]],
  [modules.blob, ["Blob", "File"]],
  [modules.console, ["console"]],
  [modules.crypto, ["Crypto", "crypto"]],
  [modules.cryptoKeys, ["CryptoKey"]],
  [modules.domException, ["DOMException"]],
  [modules.errorEvents, ["ErrorEvent", "PromiseRejectionEvent"]],
  [modules.events, ["CustomEvent", "Event", "EventTarget"]],
  [modules.fetch, ["fetch"]],
  [modules.formData, ["FormData"]],
  [modules.headers, ["Headers"]],
  [modules.navigator, ["Navigator", "navigator"]],
  [modules.performance, ["Performance", "performance"]],
  [modules.request, ["Request"]],
  [modules.response, ["Response"]],
  [
    modules.streams,
    [
      "ByteLengthQueuingStrategy",
      "CountQueuingStrategy",
      "ReadableByteStreamController",
      "ReadableStream",
      "ReadableStreamBYOBReader",
      "ReadableStreamBYOBRequest",
      "ReadableStreamDefaultController",
      "ReadableStreamDefaultReader",
      "TransformStream",
      "TransformStreamDefaultController",
      "WritableStream",
      "WritableStreamDefaultController",
      "WritableStreamDefaultWriter"
    ]
  ],
  [listenGlobally, ["addEventListener", "dispatchEvent", "removeEventListener"]],
  [modules.structuredClone, ["structuredClone"]],
  [modules.subtle, ["SubtleCrypto"]],
  [modules.text, ["TextDecoder", "TextEncoder"]],
  [modules.textStreams, ["TextDecoderStream", "TextEncoderStream"]],
  [modules.searchParams, ["URLSearchParams"]],
  [modules.url, ["URL"]]
]

/** Event handlers of the global object. Those of rejections are never called: the engine does not report them. */
const handlers = ["error", "rejectionhandled", "unhandledrejection"]

const defineHandler = (type: string): void => {
  Object.defineProperty(globalThis, `on${type}`, {
    get: () => listenGlobally().getHandler(type),
    set: (handler: unknown) => listenGlobally().setHandler(type, handler),
    configurable: true,
    enumerable: false
  })
}

const reportError = (...args: ReadonlyArray<unknown>): void => {
  requireArguments(args, 1, "reportError")
  report(args[0])
}

const queueMicrotask = (callback: () => unknown): void => {
  if (typeof callback !== "function") {
    throw new TypeError("queueMicrotask: the callback is not a function.")
  }
  void Promise.resolve().then(() => {
    try {
      callback()
    } catch (error) {
      report(error)
    }
  })
}

/**
 * Installs the platform on `globalThis`. Call it once, before guest code runs. Returns the modules for the optional script.
 *
 * `bridge.onTimer` throws the errors of timers' callbacks. Errors that no code can catch, of listeners and microtasks,
 * are logged.
 */
export const install = (bridge: Bridge): typeof modules => {
  connect(bridge)
  bridge.onTimer = fireTimer
  bridge.onTimerDropped = dropTimer
  bridge.files = (call) => new (modules.files().Files)(call)
  bridge.asset = (call, name) => modules.files().asset(call, name)
  for (const [load, names] of fromModules) {
    for (const name of names) {
      defineLazy(globalThis, name, () => Reflect.get(load(), name))
    }
  }
  const values = { setTimeout, setInterval, clearTimeout, clearInterval, queueMicrotask, reportError, self: globalThis }
  for (const [name, value] of Object.entries(values)) {
    defineValue(globalThis, name, value)
  }
  Object.defineProperty(reportError, "length", { value: 1, configurable: true })
  for (const type of handlers) {
    defineHandler(type)
  }
  return modules
}
