/** `performance`, on the coarse clock that the kernel hands out. */
import { brand } from "./define.ts"
import { EventTarget } from "./events.ts"
import { host } from "./host.ts"

export class Performance extends EventTarget {
  readonly #timeOrigin = Date.now() - host().now()

  /** Milliseconds since the isolate started. */
  now(): number {
    return host().now()
  }
  /** When the isolate started, in milliseconds since 1970. */
  get timeOrigin(): number {
    return this.#timeOrigin
  }
  toJSON(): { timeOrigin: number } {
    return { timeOrigin: this.#timeOrigin }
  }
}

brand({ Performance })

export const performance = new Performance()
