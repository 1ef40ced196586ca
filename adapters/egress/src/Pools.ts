/** Pools of undici, each for checked addresses. */
import type { LookupFunction, Socket } from "node:net"
import { parseIp, unmapIpv4 } from "@weft/core/adapter"
import { buildConnector, Pool } from "undici"

const connectMs = 10_000
const idleMs = 4000
const attemptsMax = 8

export interface PoolOptions {
  /** Additional trusted authorities, in PEM. */
  readonly certificates: ReadonlyArray<string> | undefined
  /** Maximum idle time of a connection, in milliseconds. */
  readonly keepMs: number
}

/** Opens a pool that connects only to `addresses`, which are checked. */
export const openPool = (
  origin: string,
  addresses: ReadonlyArray<string>,
  { certificates, keepMs }: PoolOptions
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
        if (isChecked(socket, addresses)) return callback(null, socket)
        socket.destroy()
        callback(new Error(`connected to ${socket.remoteAddress}, which is not a checked address`), null)
      }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: keepMs,
    // Another timeout covers the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    useMilo: false
  })
}

/** Replaces the lookup at connect time, so that a name server cannot return other addresses by then. */
const knownAddresses = (addresses: ReadonlyArray<string>): LookupFunction => {
  const known = addresses.slice(0, attemptsMax).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = known
    if (options.all === true) callback(null, known)
    else callback(null, first?.address ?? "", first?.family ?? 4)
  }
}

const isChecked = (socket: Socket, addresses: ReadonlyArray<string>): boolean => {
  const actual = addressValue(socket.remoteAddress ?? "")
  return actual !== undefined && addresses.some((address) => addressValue(address) === actual)
}

/** Returns the numeric value of an address, which is the same for all its forms. */
const addressValue = (text: string): bigint | undefined => {
  const address = parseIp(text)
  return address === null ? undefined : unmapIpv4(address).value
}
