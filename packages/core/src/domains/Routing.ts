/** How requests for a custom domain reach this service: its routing domain, and whether the name leads there. */
import { Context, Effect, Layer, Schema } from "effect"
import { Dns, type DnsUnavailable, sameName } from "./Dns.ts"
import type { HostName } from "./HostName.ts"

/** The target could not be prepared or removed. `cause` is for our logs. Tried again later. */
export class RoutingUnavailable extends Schema.TaggedError<RoutingUnavailable>()("RoutingUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "The routing target is not ready"
  }
}

export interface RoutingTarget {
  readonly domain: HostName
  /** The name in our zone that the domain's CNAME is to point to. */
  readonly routingDomain: string
}

export class Routing extends Context.Service<
  Routing,
  {
    /** Makes `routingDomain` lead to this service. May be called again for a target that is prepared. */
    readonly prepare: (target: RoutingTarget) => Effect.Effect<void, RoutingUnavailable>
    /** Whether the domain leads to its target. */
    readonly reaches: (target: RoutingTarget) => Effect.Effect<boolean, RoutingUnavailable | DnsUnavailable>
    /** Takes back what `prepare` made. May be called again, also for a target that never was prepared. */
    readonly remove: (target: RoutingTarget) => Effect.Effect<void, RoutingUnavailable>
  }
>()("@weft/core/domains/Routing") {
  /**
   * For a routing zone with a wildcard record, so that every target is there already. A domain leads to its target
   * when it is a CNAME of it, or, as at the apex of a zone where no CNAME may stand, when all its addresses are
   * addresses of the target.
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
