/**
 * Connections to addresses that were judged.
 *
 * A connection is kept and used again only for the same environment, origin and addresses: what one judgement let
 * through serves no other one, and what one tenant left behind in a connection meets no other tenant.
 */
import type { EnvId } from "@weft/core"
import { Effect, RcMap, type Scope } from "effect"
import type { Pool } from "undici"

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

const keepMs = 10_000

/**
 * Routes of one environment whose connections are kept: each may have as many as there were requests at once, and each
 * port of a host is a route of its own. Connections of further ones end with their requests.
 */
const keptMax = 16

/** `certificates` are authorities to trust besides those that Node does, in PEM. */
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
    idleTimeToLive: ({ envId }: Route) => ((open.get(envId) ?? 0) < keptMax ? keepMs : 0)
  })
  const connections: Connections = ({ addresses, ...route }) =>
    RcMap.get(kept, { ...route, addresses: [...addresses].sort() })
  return connections
})

/** undici takes a while to load: with the first request. */
const pools = Effect.promise(() => import("./Pools.ts"))
