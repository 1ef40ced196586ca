/** Custom domains as a host configures them, and put together. */
import { Layer } from "effect"
import { Certificates } from "./Certificates.ts"
import { Dns } from "./Dns.ts"
import { DomainCertificates } from "./DomainCertificates.ts"
import { DomainChecks } from "./DomainChecks.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { Domains } from "./Domains.ts"
import { DomainWorker } from "./DomainWorker.ts"
import { DomainZones, localZones, type ZonesConfig } from "./DomainZones.ts"
import { Routing } from "./Routing.ts"

export interface DomainsConfig extends ZonesConfig {
  /** How names are looked up. Without one no domain is ever validated. */
  readonly dns?: Layer.Layer<Dns>
  /** Where certificates come from; by default they are the matter of a proxy that ends TLS. */
  readonly certificates?: Layer.Layer<Certificates>
  /** How requests get here; by default by a wildcard record in the routing zone. */
  readonly routing?: Layer.Layer<Routing, never, Dns>
}

/** Everything about custom domains. Without a configuration they can be registered, but not validated. */
export const domainsLayer = (config: DomainsConfig = localZones) => {
  const dns = config.dns ?? Dns.none
  const world = Layer.mergeAll(
    DomainZones.layer(config),
    config.certificates ?? Certificates.external,
    Layer.provideMerge(config.routing ?? Routing.wildcard, dns)
  )
  const checks = Layer.provideMerge(DomainChecks.layer, DomainRoutes.layer)
  return Layer.mergeAll(Domains.layer, DomainCertificates.layer).pipe(
    Layer.provideMerge(DomainWorker.layer),
    Layer.provideMerge(checks),
    Layer.provide(world)
  )
}
