/**
 * Which host names are custom domains, in memory: a look into a map for every request, no query.
 *
 * All of them are kept, so that a host name that is none costs as little as one that is, and made-up names push
 * nothing out: some 200 bytes each. A node that missed the news goes on with what it knows for `ageLimitMs`.
 */
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { StoreUnavailable } from "../errors/Errors.ts"
import { logOutage } from "../errors/Lasting.ts"
import type { DomainRoute } from "./Domain.ts"
import { DomainStore } from "./DomainStore.ts"
import { hostOfHeader } from "./HostName.ts"

const ageLimitMs = 60_000

/** How long to go on with what is known when the store does not answer. */
const patienceMs = 5_000

/** How long requests may wait for what is known already to be brought up to date, in milliseconds. */
const waitMs = 1_000

export class DomainRoutes extends Context.Service<
  DomainRoutes,
  {
    /**
     * What a request with this `Host` header is for: the route, null for a host that is no custom domain, and
     * undefined when only `resolve` can tell.
     */
    readonly peek: (host: string) => DomainRoute | null | undefined
    /** As `peek`, asking the store where need be. Fails only before the store has answered for the first time. */
    readonly resolve: (host: string) => Effect.Effect<DomainRoute | null, StoreUnavailable>
    /** To be called after how requests for this domain are routed was changed: here at once, the others are told. */
    readonly changed: (domain: string) => Effect.Effect<void>
  }
>()("@weft/core/domains/DomainRoutes") {
  static readonly layer: Layer.Layer<DomainRoutes, never, DomainStore | Feed> = Layer.effect(
    DomainRoutes,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const feed = yield* Feed
      const clock = yield* Clock.Clock
      // One reading at a time, so that no older answer overwrites a newer one.
      const reading = yield* Semaphore.make(1)
      let routes: Map<string, DomainRoute> | null = null
      let freshUntil = 0

      const peek = (host: string): DomainRoute | null | undefined => {
        if (routes === null || clock.currentTimeMillisUnsafe() >= freshUntil) return undefined
        return routes.size === 0 ? null : (routes.get(hostOfHeader(host)) ?? null)
      }

      const renewed = Effect.timeoutOrElse(store.routes, {
        duration: waitMs,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "domain routes", cause: "No answer in time" }))
      })

      const readAll = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (routes !== null && now < freshUntil) return
        const all = yield* routes === null ? store.routes : renewed
        routes = new Map(all.map((route) => [route.domain, route]))
        freshUntil = now + ageLimitMs
      }).pipe(
        Effect.catchTag("StoreUnavailable", (error) => {
          if (routes === null) return Effect.fail(error)
          freshUntil = clock.currentTimeMillisUnsafe() + patienceMs
          return logOutage(error)
        })
      )

      const readOne = Effect.fnUntraced(function* (domain: string) {
        if (routes === null) return
        const route = yield* Effect.catchTag(store.route(domain), "NotFound", () => Effect.succeed(null))
        if (route === null) routes.delete(domain)
        else routes.set(domain, route)
      })

      /** What could not be read is read with everything else, before the next request. */
      const refresh = (domain: string) =>
        readOne(domain).pipe(
          Effect.catchTag("StoreUnavailable", (error) => {
            freshUntil = 0
            return logOutage(error)
          }),
          reading.withPermits(1)
        )

      yield* listen(
        (message) => (message.type === "domains:changed" ? refresh(message.domain) : Effect.void),
        reading.withPermits(1)(
          Effect.sync(() => {
            freshUntil = 0
          })
        )
      )

      return DomainRoutes.of({
        peek,
        resolve: (host) =>
          Effect.suspend(() => {
            const known = peek(host)
            if (known !== undefined) return Effect.succeed(known)
            return Effect.map(reading.withPermits(1)(readAll), () => routes?.get(hostOfHeader(host)) ?? null)
          }),
        changed: (domain) => Effect.andThen(refresh(domain), feed.tell([{ type: "domains:changed", domain }]))
      })
    })
  )
}
