/** `node:tls`: sockets as clients. `fetch` has its own connections. */
import { parseArguments } from "./net/Socket.ts"
import { type SecureOptions, TLSSocket, type TlsConnectOptions } from "./net/TlsSocket.ts"
import { refuse } from "./refuse.ts"

type Given = ReadonlyArray<TlsConnectOptions | number | string | (() => void) | null | undefined>

export const connect = (...given: Given): TLSSocket => {
  const later = given.slice(1).find((each) => typeof each === "object")
  const [parsed, listener] = parseArguments(given)
  const options: TlsConnectOptions = { ...parsed, ...later }
  const socket = new TLSSocket(options.socket, options)
  if (listener !== undefined) socket.once("secureConnect", listener)
  if (options.socket === undefined || options.socket === null) socket.connect(options)
  return socket
}

export { TLSSocket }
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
/** The host checks the name of each certificate. */
export const checkServerIdentity = (): undefined => undefined
export const createSecureContext = (options: SecureOptions = {}) => ({ context: options })
export const convertALPNProtocols = (): void => undefined
export const SecureContext = refuse("tls.SecureContext")
export const Server = refuse("tls.Server", "export a webhook to receive requests")
export const createServer = refuse("tls.createServer", "export a webhook to receive requests")

import * as all from "./tls.ts"
export default /* @__PURE__ */ Object.assign({}, all)
