/**
 * Connections to addresses that were judged.
 *
 * A connection is kept and used again only for the same environment, origin and addresses: what one judgement let
 * through serves no other one, and what one tenant left behind in a connection meets no other tenant.
 */
import type { LookupFunction, Socket } from "node:net"
import { type EnvId, parseIp, unmapped } from "@weft/core"
import { Effect, RcMap, type Scope } from "effect"
import { buildConnector, Pool } from "undici"

/** What a connection is for. Equal ones share connections. */
export interface Route {
  readonly envId: EnvId
  /** Scheme, host and port. */
  readonly origin: string
  /** All judged. */
  readonly addresses: ReadonlyArray<string>
}

/** Gives the connections of a route for as long as the scope lasts. */
export type Connections = (route: Route) => Effect.Effect<Pool, never, Scope.Scope>

const connectMs = 10_000
const idleMs = 4000
const keepMs = 10_000
const attemptsMax = 8

/** `certificates` are authorities to trust besides those that Node does, in PEM. */
export const makeConnections = Effect.fnUntraced(function* (certificates: ReadonlyArray<string> | undefined) {
  const pools = yield* RcMap.make({
    lookup: (route: Route) =>
      Effect.acquireRelease(
        Effect.sync(() => openPool(route, certificates)),
        (pool) => Effect.promise(() => pool.destroy())
      ),
    idleTimeToLive: keepMs
  })
  const connections: Connections = ({ addresses, ...route }) =>
    RcMap.get(pools, { ...route, addresses: [...addresses].sort() })
  return connections
})

const openPool = ({ origin, addresses }: Route, certificates: ReadonlyArray<string> | undefined): Pool => {
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
