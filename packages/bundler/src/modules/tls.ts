/** `node:tls`: sockets that cannot connect. `fetch` has its own connections. */
import { Socket } from "node:net"
import { refuse } from "./refuse.ts"

/** Clients create one while they load. */
export class TLSSocket extends Socket {
  readonly encrypted = true
  readonly authorized = false
  readonly _handle = { _parentWrap: {} }
}

export const connect = (): TLSSocket => {
  const socket = new TLSSocket(Object.create(null))
  socket.connect(0)
  return socket
}

export const rootCertificates: ReadonlyArray<string> = []
export const DEFAULT_MIN_VERSION = "TLSv1.2"
export const DEFAULT_MAX_VERSION = "TLSv1.3"
export const DEFAULT_CIPHERS = ""
export const DEFAULT_ECDH_CURVE = "auto"
export const CLIENT_RENEG_LIMIT = 3
export const CLIENT_RENEG_WINDOW = 600
export const getCiphers = (): ReadonlyArray<string> => []
export const getCACertificates = (): ReadonlyArray<string> => []
export const getCertificateCompressionAlgorithms = (): ReadonlyArray<string> => []
export const setDefaultCACertificates = (): void => undefined
export const checkServerIdentity = (): undefined => undefined
export const createSecureContext = () => ({ context: {} })
export const convertALPNProtocols = (): void => undefined
export const SecureContext = refuse("tls.SecureContext")
export const Server = refuse("tls.Server")
export const createServer = refuse("tls.createServer", "export a webhook to receive requests")

import * as all from "./tls.ts"
export default /* @__PURE__ */ Object.assign({}, all)
