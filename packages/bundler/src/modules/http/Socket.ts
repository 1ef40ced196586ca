/** The socket of a request, as far as clients use it. `fetch` has the real one. */
import { EventEmitter } from "node:events"

export class Socket extends EventEmitter {
  readonly connecting = false
  readonly encrypted: boolean
  readonly authorized = true
  readonly remoteAddress = undefined
  readonly remotePort = undefined
  destroyed = false
  bytesWritten = 0
  bytesRead = 0

  constructor(encrypted: boolean) {
    super()
    this.encrypted = encrypted
  }

  setTimeout(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  address(): object {
    return {}
  }

  destroy(): this {
    this.destroyed = true
    return this
  }
}
