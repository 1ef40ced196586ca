/** `performance`, on the kernel's coarse clock. */
import { brand } from "./define.ts"
import { EventTarget } from "./events.ts"
import { host } from "./host.ts"

export class Performance extends EventTarget {
  readonly #timeOrigin = Date.now() - host().now()

  /** Returns the milliseconds since the isolate started. */
  now(): number {
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

export const performance = new Performance()
