/** `navigator`, which names the runtime. */
import { brand } from "./define.ts"

const internal: unique symbol = Symbol("Navigator")

export class Navigator {
  constructor(key: symbol | undefined = undefined) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  get userAgent(): string {
    return "Weft"
  }
}

brand({ Navigator })

export const navigator = new Navigator(internal)
