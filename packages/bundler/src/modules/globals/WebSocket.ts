/** The global `WebSocket`: clients may name it, but cannot connect. */
import { notInFunctions } from "../refuse.ts"

export class WebSocket extends EventTarget {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static readonly CLOSED = 3

  constructor(url: string) {
    super()
    throw notInFunctions(`WebSocket to ${new URL(url).origin}`, "send requests with `fetch`")
  }
}
