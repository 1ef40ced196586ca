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

/** `certificates` are authorities to trust besides those that Node does, in PEM. */
export const makeConnections = Effect.fnUntraced(function* (certificates: ReadonlyArray<string> | undefined) {
  const kept = yield* RcMap.make({
    lookup: (route: Route) =>
      Effect.acquireRelease(
        Effect.map(pools, ({ openPool }) => openPool(route.origin, route.addresses, { certificates, keepMs })),
        (pool) => Effect.promise(() => pool.destroy())
      ),
    idleTimeToLive: keepMs
  })
  const connections: Connections = ({ addresses, ...route }) =>
    RcMap.get(kept, { ...route, addresses: [...addresses].sort() })
  return connections
})

/** undici takes a while to load: with the first request. */
const pools = Effect.promise(() => import("./Pools.ts"))
