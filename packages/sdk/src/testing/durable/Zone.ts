/**
 * Separates the code of a durable function outside of steps from the bodies of its steps.
 *
 * `AsyncLocalStorage` carries the zone over every `await`. The first run replaces the clock, random numbers and timers of the
 * process by versions that look up the zone. Code outside of runs is not affected.
 */
import { AsyncLocalStorage } from "node:async_hooks"

export interface Zone {
  /** Name of the step whose body runs; null outside of bodies. */
  readonly body: string | null
  /** The virtual time, in milliseconds since 1970. */
  readonly now: () => number
  /** Returns a number in [0, 1). */
  readonly random: () => number
  /** Called for a call outside of bodies that a replay repeats, or whose result it may change. */
  readonly onOutside: (call: string) => void
  /** Timers that code outside of bodies waits for. */
  readonly timers: Set<unknown>
}

const zones = new AsyncLocalStorage<Zone>()

export const withZone = <A>(zone: Zone, body: () => A): A => {
  install()
  return zones.run(zone, body)
}

/** Calls the body as code of no run. */
export const withoutZone = <A>(body: () => A): A => zones.exit(body)

export const currentZone = (): Zone | undefined => zones.getStore()

/** Reports a call outside of bodies. */
const outside = (call: string): Zone | undefined => {
  const zone = zones.getStore()
  if (zone !== undefined && zone.body === null) zone.onOutside(call)
  return zone
}

let installed = false

const install = (): void => {
  if (installed) return
  installed = true
  installClock()
  installRandom()
  installTimers()
}

const installClock = (): void => {
  const NativeDate = globalThis.Date
  const now = (): number => outside("Date.now")?.now() ?? NativeDate.now()
  const constructed = () => outside("new Date")?.now() ?? NativeDate.now()
  const methods: ProxyHandler<DateConstructor> = {
    get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
    apply: () => new NativeDate(constructed()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [constructed()] : args, newTarget)
  }
  globalThis.Date = new Proxy(NativeDate, methods)
  Object.defineProperty(NativeDate.prototype, "constructor", { value: globalThis.Date, configurable: true })
}

const installRandom = (): void => {
  const { random: native } = Math
  Object.defineProperty(Math, "random", {
    value: () => (outside("Math.random") ?? { random: native }).random(),
    writable: true,
    configurable: true
  })
  const { randomUUID, getRandomValues } = crypto
  Object.defineProperties(crypto, {
    randomUUID: {
      value: () => {
        outside("crypto.randomUUID")
        return randomUUID.call(crypto)
      },
      configurable: true
    },
    getRandomValues: {
      value: (array: Uint8Array<ArrayBuffer>) => {
        outside("crypto.getRandomValues")
        return getRandomValues.call(crypto, array)
      },
      configurable: true
    }
  })
}

const installTimers = (): void => {
  const { setTimeout: start, clearTimeout: stop } = globalThis
  const started = (
    callback: (...args: ReadonlyArray<unknown>) => void,
    ms?: number,
    ...args: ReadonlyArray<unknown>
  ) => {
    const zone = outside("setTimeout")
    if (zone === undefined || zone.body !== null) return start(callback, ms, ...args)
    const timer = start(() => {
      zone.timers.delete(timer)
      callback(...args)
    }, ms)
    zone.timers.add(timer)
    return timer
  }
  const stopped: typeof clearTimeout = (timer) => {
    zones.getStore()?.timers.delete(timer)
    stop(timer)
  }
  Object.defineProperties(started, Object.getOwnPropertyDescriptors(start))
  Object.defineProperty(globalThis, "setTimeout", { value: started, configurable: true, writable: true })
  globalThis.clearTimeout = stopped
}
