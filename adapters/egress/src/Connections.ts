/**
 * Connections to checked addresses.
 *
 * A connection is reused only for the same environment, origin and addresses. So one check never permits another
 * destination, and the state of a tenant's connection never reaches another tenant.
 */
import type { EnvId } from "@weft/core"
import { Effect, RcMap, type Scope } from "effect"
import type { Pool } from "undici"

/** Key of a connection pool. Equal routes share connections. */
export interface Route {
  readonly envId: EnvId
  /** Scheme, host and port. */
  readonly origin: string
  /** All of them are checked. */
  readonly addresses: ReadonlyArray<string>
}

/** Returns the connection pool of a route, valid until the scope closes. */
export type Connections = (route: Route) => Effect.Effect<Pool, never, Scope.Scope>

const keepMs = 10_000

/**
 * Maximum routes of one environment whose idle connections are kept. Each route may have as many connections as it had
 * concurrent requests, and each port of a host is a separate route. Connections of further routes end with their requests.
 */
const routesMax = 16

/** Creates the pools. `certificates` are additional trusted authorities in PEM. */
export const makeConnections = Effect.fnUntraced(function* (certificates: ReadonlyArray<string> | undefined) {
  const open = new Map<EnvId, number>()
  const count = (envId: EnvId, change: number): void => {
    const now = (open.get(envId) ?? 0) + change
    if (now > 0) open.set(envId, now)
    else open.delete(envId)
  }
  const kept = yield* RcMap.make({
    lookup: (route: Route) =>
      Effect.acquireRelease(
        Effect.map(pools, ({ openPool }) => {
          count(route.envId, 1)
          return openPool(route.origin, route.addresses, { certificates, keepMs })
        }),
        (pool) => {
          count(route.envId, -1)
          return Effect.promise(() => pool.destroy())
        }
      ),
    idleTimeToLive: ({ envId }: Route) => ((open.get(envId) ?? 0) < routesMax ? keepMs : 0)
  })
  const connections: Connections = ({ addresses, ...route }) =>
    RcMap.get(kept, { ...route, addresses: [...addresses].sort() })
  return connections
})

/** Loads undici with the first request, because that takes time. */
const pools = Effect.promise(() => import("./Pools.ts"))
