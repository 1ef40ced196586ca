/** Routing of requests for custom domains to this service, through a routing domain. */
import { Context, Effect, Layer, Schema } from "effect"
import { Dns, type DnsUnavailable, sameName } from "./Dns.ts"
import type { HostName } from "./HostName.ts"

/** The target could not be prepared or removed. Retried later. `cause` is only for logs. */
export class RoutingUnavailable extends Schema.TaggedError<RoutingUnavailable>()("RoutingUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "The routing target is not ready"
  }
}

export interface RoutingTarget {
  readonly domain: HostName
  /** Name in the routing zone that the domain's CNAME must point to. */
  readonly routingDomain: string
}

export class Routing extends Context.Service<
  Routing,
  {
    /** Routes `routingDomain` to this service. Idempotent. */
    readonly prepare: (target: RoutingTarget) => Effect.Effect<void, RoutingUnavailable>
    /** Returns true if the domain resolves to its target. */
    readonly reaches: (target: RoutingTarget) => Effect.Effect<boolean, RoutingUnavailable | DnsUnavailable>
    /** Reverts `prepare`. Idempotent, also for a target that was never prepared. */
    readonly remove: (target: RoutingTarget) => Effect.Effect<void, RoutingUnavailable>
  }
>()("@weft/core/resources/domains/Routing") {
  /**
   * Routing with a wildcard record in the routing zone, so that every target already exists. A domain resolves to its
   * target if it is a CNAME of the target, or if all its addresses are addresses of the target. The latter is for the
   * apex of a zone, where CNAME records are not allowed.
   */
  static readonly wildcard: Layer.Layer<Routing, never, Dns> = Layer.effect(
    Routing,
    Effect.map(Dns, (dns) => {
      const sharesAddresses = Effect.fnUntraced(function* ({ domain, routingDomain }: RoutingTarget) {
        const own = yield* dns.resolveAddresses(domain)
        if (own.length === 0) return false
        const target = new Set(yield* dns.resolveAddresses(routingDomain))
        return own.every((address) => target.has(address))
      })

      return Routing.of({
        prepare: () => Effect.void,
        reaches: Effect.fnUntraced(function* (target) {
          const names = yield* dns.resolveCname(target.domain)
          return names.some((name) => sameName(name, target.routingDomain)) || (yield* sharesAddresses(target))
        }),
        remove: () => Effect.void
      })
    })
  )
}
