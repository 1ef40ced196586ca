/** `performance`, on the kernel's coarse clock. */
import { brand, defineValue, requireArguments } from "./define.ts"
import { EventTarget } from "./events.ts"
import { host } from "./host.ts"

/** Throws a `TypeError` for other objects. */
let requirePerformance: (value: Performance) => void

export class Performance extends EventTarget {
  readonly #timeOrigin = Date.now() - host().now()

  static {
    requirePerformance = (value) => void value.#timeOrigin
  }

  /** Returns the milliseconds since the isolate started. */
  now(): number {
    requirePerformance(this)
    return host().now()
  }
  /** Start of the isolate, in milliseconds since 1970. */
  get timeOrigin(): number {
    return this.#timeOrigin
  }
  toJSON(): { timeOrigin: number } {
    return { timeOrigin: this.#timeOrigin }
  }
}

brand({ Performance })

/** Methods of marks and measures, with the number of required arguments. */
const timelineMethods = {
  mark: 1,
  measure: 1,
  clearMarks: 0,
  clearMeasures: 0,
  getEntries: 0,
  getEntriesByName: 1,
  getEntriesByType: 1
}

/** Adds the methods of marks and measures. `load` returns the module that implements them, at their first use. */
export const addTimeline = (load: () => { readonly methods: object }): void => {
  for (const [name, length] of Object.entries(timelineMethods)) {
    const { method } = {
      method(this: Performance, ...args: ReadonlyArray<unknown>): unknown {
        requirePerformance(this)
        requireArguments(args, length, `performance.${name}`)
        return Reflect.apply(Reflect.get(load().methods, name), this, args)
      }
    }
    Object.defineProperty(method, "length", { value: length, configurable: true })
    defineValue(Performance.prototype, name, method, true)
  }
}

export const performance = new Performance()
