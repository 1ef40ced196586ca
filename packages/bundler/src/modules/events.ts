/** `node:events`: the implementation of the package `events`, with the functions that Node has added since. */
import Base from "events/events.js"
import { refuse } from "./refuse.ts"

export type Listener = (...given: ReadonlyArray<unknown>) => void

export const captureRejectionSymbol: unique symbol = Symbol.for("nodejs.rejection")
export const errorMonitor: unique symbol = Symbol.for("events.errorMonitor")
export const captureRejections = false
export const usingDomains = false
export const defaultMaxListeners = 10

const emit = Base.prototype.emit

/** Calls the listeners of `errorMonitor` before those of `error`. */
Base.prototype.emit = function (
  this: InstanceType<typeof Base>,
  type: string | symbol,
  ...given: Array<unknown>
): boolean {
  if (type === "error" && this.listenerCount(errorMonitor) > 0) Reflect.apply(emit, this, [errorMonitor, ...given])
  return Reflect.apply(emit, this, [type, ...given])
}

const isEmitter = (target: unknown): target is InstanceType<typeof Base> => target instanceof Base

export const getEventListeners = (target: unknown, type: string | symbol): Array<unknown> =>
  isEmitter(target) ? target.listeners(type) : []

export const listenerCount = (target: unknown, type: string | symbol): number => getEventListeners(target, type).length

export const getMaxListeners = (target: unknown): number =>
  isEmitter(target) ? target.getMaxListeners() : defaultMaxListeners

export const setMaxListeners = (count: number = defaultMaxListeners, ...targets: ReadonlyArray<unknown>): void => {
  if (targets.length === 0) Base.defaultMaxListeners = count
  for (const target of targets) if (isEmitter(target)) target.setMaxListeners(count)
}

export const init = (): void => undefined

export const addAbortListener = (signal: AbortSignal, listener: () => void) => {
  if (signal.aborted) queueMicrotask(listener)
  else signal.addEventListener("abort", listener, { once: true })
  const dispose = (): void => signal.removeEventListener("abort", listener)
  return { [Symbol.dispose]: dispose }
}

const aborted = (signal: AbortSignal): Error => {
  const error = new Error("The operation was aborted", { cause: signal.reason })
  return Object.assign(error, { name: "AbortError", code: "ABORT_ERR" })
}

type Target = InstanceType<typeof Base> | EventTarget

const listen = (target: Target, type: string, listener: Listener): (() => void) => {
  if (isEmitter(target)) {
    target.on(type, listener)
    return () => void target.removeListener(type, listener)
  }
  target.addEventListener(type, listener)
  return () => target.removeEventListener(type, listener)
}

export const once = (
  target: Target,
  type: string,
  options: { signal?: AbortSignal } = {}
): Promise<ReadonlyArray<unknown>> =>
  new Promise((resolve, reject) => {
    const { signal } = options
    if (signal?.aborted === true) return reject(aborted(signal))
    const ends: Array<() => void> = []
    const settle = (done: () => void): void => {
      for (const end of ends) end()
      done()
    }
    ends.push(listen(target, type, (...given) => settle(() => resolve(given))))
    if (type !== "error" && isEmitter(target))
      ends.push(listen(target, "error", (error) => settle(() => reject(error))))
    if (signal !== undefined) {
      const abort = (): void => settle(() => reject(aborted(signal)))
      signal.addEventListener("abort", abort, { once: true })
      ends.push(() => signal.removeEventListener("abort", abort))
    }
  })

interface OnOptions {
  readonly signal?: AbortSignal
  readonly close?: ReadonlyArray<string>
}

export async function* on(target: Target, type: string, options: OnOptions = {}) {
  const { signal, close = [] } = options
  const events: Array<ReadonlyArray<unknown>> = []
  let failure: { readonly error: unknown } | undefined
  let ended = false
  let wake: () => void = () => undefined
  const receive = (given: ReadonlyArray<unknown>): void => {
    events.push(given)
    wake()
  }
  const fail = (error: unknown): void => {
    failure = { error }
    wake()
  }
  const finish = (): void => {
    ended = true
    wake()
  }
  const ends = [
    listen(target, type, (...given) => receive(given)),
    ...(isEmitter(target) && type !== "error" ? [listen(target, "error", (error) => fail(error))] : []),
    ...close.map((each) => listen(target, each, finish))
  ]
  if (signal !== undefined) {
    const abort = (): void => fail(aborted(signal))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    ends.push(() => signal.removeEventListener("abort", abort))
  }
  try {
    while (true) {
      const next = events.shift()
      if (next !== undefined) yield next
      else if (failure !== undefined) throw failure.error
      else if (ended) return
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    for (const end of ends) end()
  }
}

export const EventEmitterAsyncResource = refuse("events.EventEmitterAsyncResource", "use `AsyncResource.bind`")

Object.assign(Base, {
  addAbortListener,
  captureRejections,
  captureRejectionSymbol,
  errorMonitor,
  EventEmitterAsyncResource,
  getEventListeners,
  getMaxListeners,
  init,
  listenerCount,
  on,
  once,
  setMaxListeners,
  usingDomains
})

export { Base as EventEmitter }
export default Base
