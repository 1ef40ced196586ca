/** `node:net`: addresses, and sockets that cannot connect. */
import { Duplex } from "node:stream"
import { notInFunctions, refuse } from "./refuse.ts"

export const isIPv4 = (text: unknown): boolean =>
  /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(String(text))

export const isIPv6 = (text: unknown): boolean => {
  const address = String(text).replace(/%.*$/, "")
  return address.includes(":") && URL.canParse(`http://[${address}]/`)
}

export const isIP = (text: unknown): number => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0)

/** A socket that fails when it connects. Clients create one before they connect, or extend the class. */
export class Socket extends Duplex {
  readonly connecting = false
  readonly remoteAddress = undefined
  timeout = 0

  connect(): this {
    queueMicrotask(() => this.destroy(notInFunctions("net.connect")))
    return this
  }
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: BufferEncoding, done: (error: Error) => void): void {
    done(notInFunctions("net.connect"))
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
  destroySoon(): void {
    this.destroy()
  }
}

export const connect = (): Socket => new Socket().connect()
export const createConnection = connect
export { Socket as Stream }
export const Server = refuse("net.Server")
export const createServer = refuse("net.createServer", "export a webhook to receive requests")
export const BlockList = refuse("net.BlockList")
export const BoundSocket = refuse("net.BoundSocket")
export const SocketAddress = refuse("net.SocketAddress")
export const _createServerHandle = refuse("net._createServerHandle")
export const _normalizeArgs = refuse("net._normalizeArgs")
export const getDefaultAutoSelectFamily = (): boolean => true
export const setDefaultAutoSelectFamily = (): void => undefined
export const getDefaultAutoSelectFamilyAttemptTimeout = (): number => 250
export const setDefaultAutoSelectFamilyAttemptTimeout = (): void => undefined

import * as all from "./net.ts"
export default /* @__PURE__ */ Object.assign({}, all)
