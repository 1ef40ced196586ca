/**
 * Routes of all custom domains in memory: one map look-up per request, without a query.
 *
 * All routes are kept, at about 200 bytes each, so that requests for unknown hosts neither cost more nor displace routes.
 * A node that missed a `domains:changed` message uses outdated routes for at most `ageLimitMs`.
 */
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { StoreUnavailable } from "../../foundation/Errors.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import type { DomainRoute } from "./Domain.ts"
import { DomainStore } from "./DomainStore.ts"
import { hostOfHeader } from "./HostName.ts"

const ageLimitMs = 60_000

/** Time for which expired routes remain in use after the store was unavailable, in milliseconds. */
const retryMs = 5_000

/** Maximum time that requests wait for expired routes to be reloaded, in milliseconds. */
const reloadTimeoutMs = 1_000

export class DomainRoutes extends Context.Service<
  DomainRoutes,
  {
    /**
     * Returns the route of a `Host` header, or null if the host is not a custom domain. Undefined if the cached routes have
     * expired, so that `resolve` is necessary.
     */
    readonly getCached: (host: string) => DomainRoute | null | undefined
    /** Returns the route like `getCached`, and reloads expired routes. Fails only until the first successful load. */
    readonly resolve: (host: string) => Effect.Effect<DomainRoute | null, StoreUnavailable>
    /** Reloads the route of a domain on this node and notifies the others. Call it after a change of routing. */
    readonly changed: (domain: string) => Effect.Effect<void>
  }
>()("@weft/core/resources/domains/DomainRoutes") {
  static readonly layer: Layer.Layer<DomainRoutes, never, DomainStore | ClusterBus> = Layer.effect(
    DomainRoutes,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const bus = yield* ClusterBus
      const clock = yield* Clock.Clock
      // One load at a time, so that no older result overwrites a newer one.
      const loading = yield* Semaphore.make(1)
      let routes: Map<string, DomainRoute> | null = null
      let freshUntil = 0

      const getCached = (host: string): DomainRoute | null | undefined => {
        if (routes === null || clock.currentTimeMillisUnsafe() >= freshUntil) return undefined
        return routes.size === 0 ? null : (routes.get(hostOfHeader(host)) ?? null)
      }

      const reload = Effect.timeoutOrElse(store.routes, {
        duration: reloadTimeoutMs,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "domain routes", cause: "The store timed out" }))
      })

      const loadAll = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (routes !== null && now < freshUntil) return
        const all = yield* routes === null ? store.routes : reload
        routes = new Map(all.map((route) => [route.domain, route]))
        freshUntil = now + ageLimitMs
      }).pipe(
        Effect.catchTag("StoreUnavailable", (error) => {
          if (routes === null) return Effect.fail(error)
          freshUntil = clock.currentTimeMillisUnsafe() + retryMs
          return logOutage(error)
        })
      )

      const loadOne = Effect.fnUntraced(function* (domain: string) {
        if (routes === null) return
        const route = yield* Effect.catchTag(store.route(domain), "NotFound", () => Effect.succeed(null))
        if (route === null) routes.delete(domain)
        else routes.set(domain, route)
      })

      /** Loads one route. If that fails, the next request reloads all of them. */
      const refresh = (domain: string) =>
        loadOne(domain).pipe(
          Effect.catchTag("StoreUnavailable", (error) => {
            freshUntil = 0
            return logOutage(error)
          }),
          loading.withPermits(1)
        )

      yield* subscribe(
        (message) => (message.type === "domains:changed" ? refresh(message.domain) : Effect.void),
        loading.withPermits(1)(
          Effect.sync(() => {
            freshUntil = 0
          })
        )
      )

      return DomainRoutes.of({
        getCached,
        resolve: (host) =>
          Effect.suspend(() => {
            const known = getCached(host)
            if (known !== undefined) return Effect.succeed(known)
            return Effect.map(loading.withPermits(1)(loadAll), () => routes?.get(hostOfHeader(host)) ?? null)
          }),
        changed: (domain) => Effect.andThen(refresh(domain), bus.sendControl([{ type: "domains:changed", domain }]))
      })
    })
  )
}
