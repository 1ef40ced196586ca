/** undici's pools, each for addresses that were judged. */
import type { LookupFunction, Socket } from "node:net"
import { parseIp, unmapped } from "@weft/core"
import { buildConnector, Pool } from "undici"

const connectMs = 10_000
const idleMs = 4000
const attemptsMax = 8

export interface PoolTerms {
  /** Authorities to trust besides those that Node does, in PEM. */
  readonly certificates: ReadonlyArray<string> | undefined
  /** The longest that a connection is kept unused, in milliseconds. */
  readonly keepMs: number
}

/** `addresses` were judged, and no other is connected to. */
export const openPool = (
  origin: string,
  addresses: ReadonlyArray<string>,
  { certificates, keepMs }: PoolTerms
): Pool => {
  const connect = buildConnector({
    allowH2: false,
    timeout: connectMs,
    lookup: knownAddresses(addresses),
    autoSelectFamily: true,
    ...(certificates === undefined ? {} : { ca: [...certificates] })
  })
  return new Pool(origin, {
    connect: (options, callback) =>
      connect(options, (error, socket) => {
        if (error !== null) return callback(error, null)
        if (isJudged(socket, addresses)) return callback(null, socket)
        socket.destroy()
        callback(new Error("connected to an address that was not judged"), null)
      }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: keepMs,
    // The time of a request is counted as a whole, elsewhere.
    headersTimeout: 0,
    bodyTimeout: 0,
    useMilo: false
  })
}

/** Instead of a look-up when connecting: whatever a name server would say by then is not asked. */
const knownAddresses = (addresses: ReadonlyArray<string>): LookupFunction => {
  const known = addresses.slice(0, attemptsMax).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = known
    if (options.all === true) callback(null, known)
    else callback(null, first?.address ?? "", first?.family ?? 4)
  }
}

const isJudged = (socket: Socket, addresses: ReadonlyArray<string>): boolean => {
  const actual = plain(socket.remoteAddress ?? "")
  return actual !== undefined && addresses.some((address) => plain(address) === actual)
}

/** One form for one address. */
const plain = (text: string): bigint | undefined => {
  const address = parseIp(text)
  return address === null ? undefined : unmapped(address).value
}
