/** `node:util`. */
import types from "node:util/types"
import { format, formatWithOptions, inspect, stripVTControlCharacters } from "node-inspect-extracted"
import { isDeepStrictEqual } from "./deepEqual.ts"
import { refuse } from "./refuse.ts"

type Callback = (...given: ReadonlyArray<unknown>) => unknown

export { format, formatWithOptions, inspect, isDeepStrictEqual, stripVTControlCharacters, types }
export const { TextDecoder, TextEncoder } = globalThis

const customPromisify: unique symbol = Symbol.for("nodejs.util.promisify.custom")

/** The promise form of timers, whose callback comes first. */
const timer =
  (start: (callback: () => void, ms: unknown) => unknown): Callback =>
  (ms, value) =>
    new Promise((resolve) => start(() => resolve(value), ms))

const timers: Readonly<Record<string, Callback>> = {
  setTimeout: timer((callback, ms) => setTimeout(callback, Number(ms))),
  setImmediate: (value) => new Promise((resolve) => setTimeout(() => resolve(value), 0))
}

export const promisify = Object.assign(
  (original: Callback): Callback => {
    const startsTimer = timers[original.name]
    if (startsTimer !== undefined) return startsTimer
    const custom: unknown = Reflect.get(original, customPromisify)
    if (typeof custom === "function") return (...given) => Reflect.apply(custom, undefined, given)
    return Object.defineProperties(function promisified(this: unknown, ...given: ReadonlyArray<unknown>) {
      return new Promise((resolve, reject) => {
        const done = (error: unknown, value: unknown): void => {
          if (error === null || error === undefined) resolve(value)
          else reject(error)
        }
        Reflect.apply(original, this, [...given, done])
      })
    }, Object.getOwnPropertyDescriptors(original))
  },
  { custom: customPromisify }
)

export const callbackify = (original: Callback): Callback =>
  function callbackified(this: unknown, ...given: ReadonlyArray<unknown>) {
    const done = given.at(-1)
    if (typeof done !== "function") throw new TypeError('The "callback" argument must be of type function')
    Promise.resolve(Reflect.apply(original, this, given.slice(0, -1))).then(
      (value) => queueMicrotask(() => void done(null, value)),
      (error: unknown) =>
        queueMicrotask(() => void done(error ?? new Error("The promise was rejected without a reason")))
    )
  }

export const inherits = (child: Callback & { super_?: unknown }, parent: Callback): void => {
  Object.defineProperty(child, "super_", { value: parent, writable: true, configurable: true })
  Object.setPrototypeOf(child.prototype, parent.prototype)
}

export const deprecate = (fn: Callback): Callback => fn
const silent = Object.assign((): void => undefined, { enabled: false })
export const debuglog = () => silent
export const debug = debuglog
export const _extend = (target: object, source: object): object => Object.assign(target, source)
export const toUSVString = (text: unknown): string => String(text).toWellFormed()
export const isArray = Array.isArray
/** Text of a terminal has no styles in a log. */
export const styleText = (_format: unknown, text: string): string => text

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

export const parseEnv = (content: string): Record<string, string> =>
  Object.fromEntries(
    [...content.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\n]*))/gm)].map(
      ([, name, double, single, plain]) => [name, double ?? single ?? plain?.trim() ?? ""]
    )
  )

export const getSystemErrorName = (errno: number): string => `Unknown system error ${errno}`
export const getSystemErrorMessage = getSystemErrorName
export const getSystemErrorMap = (): ReadonlyMap<number, unknown> => new Map()
export const getCallSites = (): ReadonlyArray<unknown> => []
export const transferableAbortController = (): AbortController => new AbortController()
export const transferableAbortSignal = (signal: AbortSignal): AbortSignal => signal
export const parseArgs = refuse("util.parseArgs", "a function has no arguments of a command line")
export const diff = refuse("util.diff")
export const setTraceSigInt = refuse("util.setTraceSigInt")
export const convertProcessSignalToExitCode = refuse("util.convertProcessSignalToExitCode")
export const _errnoException = refuse("util._errnoException")
export const _exceptionWithHostPort = refuse("util._exceptionWithHostPort")
export { MIMEParams, MIMEType } from "unenv/node/internal/util/mime"

import * as all from "./supportFunctions.ts"
export default /* @__PURE__ */ Object.assign({}, all)
