/** Configuration and assembly of custom domains. */
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
  /** DNS resolver. Without one, no domain is validated. */
  readonly dns?: Layer.Layer<Dns>
  /** Issuer of certificates. By default none: a proxy terminates TLS with its own certificates. */
  readonly certificates?: Layer.Layer<Certificates>
  /** Routing of requests; by default a wildcard record in the routing zone. */
  readonly routing?: Layer.Layer<Routing, never, Dns>
}

/** Provides the services of custom domains. Without a configuration, domains can be registered but not validated. */
export const domainsLayer = (config: DomainsConfig = localZones) => {
  const dns = config.dns ?? Dns.none
  const environment = Layer.mergeAll(
    DomainZones.layer(config),
    config.certificates ?? Certificates.external,
    Layer.provideMerge(config.routing ?? Routing.wildcard, dns)
  )
  const checks = Layer.provideMerge(DomainChecks.layer, DomainRoutes.layer)
  return Layer.mergeAll(Domains.layer, DomainCertificates.layer).pipe(
    Layer.provideMerge(DomainWorker.layer),
    Layer.provideMerge(checks),
    Layer.provide(environment)
  )
}
