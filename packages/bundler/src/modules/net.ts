/** `node:net`: addresses, and sockets as clients. */
import { type ConnectArguments, parseArguments, Socket } from "./net/Socket.ts"
import { refuse } from "./refuse.ts"

export { isIP, isIPv4, isIPv6 } from "./net/addresses.ts"

export const connect = (...given: ConnectArguments): Socket => new Socket(parseArguments(given)[0]).connect(...given)
export const createConnection = connect
export { Socket, Socket as Stream }
export const Server = refuse("net.Server", "export a webhook to receive requests")
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
