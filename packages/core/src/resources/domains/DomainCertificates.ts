/** Decrypted certificates of custom domains in memory, for TLS termination. */
import { Context, Effect, Layer, Redacted } from "effect"
import { NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { certificatePlace } from "./DomainCertificate.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { DomainStore } from "./DomainStore.ts"
import { hostOfHeader } from "./HostName.ts"

export interface OpenCertificate {
  /** PEM: the certificate, then its intermediate certificates. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: Redacted.Redacted<string>
}

export class DomainCertificates extends Context.Service<
  DomainCertificates,
  {
    /**
     * Returns the certificate for the server name of a TLS client: the same object until it changes. `NotFound` if the name
     * is not a custom domain, without a query, or if this server has no certificate for it.
     */
    readonly of: (serverName: string) => Effect.Effect<OpenCertificate, NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/domains/DomainCertificates") {
  static readonly layer: Layer.Layer<DomainCertificates, never, DomainStore | DomainRoutes | ClusterBus | Keyring> =
    Layer.effect(
      DomainCertificates,
      Effect.gen(function* () {
        const store = yield* DomainStore
        const routes = yield* DomainRoutes
        const keyring = yield* Keyring

        const open = Effect.fnUntraced(function* (domain: string) {
          const { domain_id, chain, private_key } = yield* store.certificateOf(domain)
          const opened = yield* Effect.catchTag(
            keyring.open(private_key, certificatePlace(domain_id)),
            "CannotOpen",
            (error) => Effect.andThen(Effect.logError(error.message), Effect.fail(notFound))
          )
          return { chain, privateKey: Redacted.make(opened) }
        })

        const snapshots = yield* makeSnapshots(open, { capacity: 10_000, ageLimit: "60 seconds" })
        yield* subscribe(
          (message) => (message.type === "domains:changed" ? snapshots.invalidate(message.domain) : Effect.void),
          snapshots.invalidateAll
        )

        return DomainCertificates.of({
          of: (serverName) =>
            Effect.flatMap(routes.resolve(serverName), (route) =>
              route === null ? Effect.fail(notFound) : snapshots.get(hostOfHeader(serverName))
            )
        })
      })
    )
}

const notFound = new NotFound({ resource: "certificate" })
