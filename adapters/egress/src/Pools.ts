/** Pools of undici, each for checked addresses. */
import { buildConnector, Pool } from "undici"
import { isChecked, knownAddresses } from "./CheckedAddresses.ts"

const connectMs = 10_000
const idleMs = 4000

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
