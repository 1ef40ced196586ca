/** The certificates of custom domains, opened and in memory, for whoever ends TLS. */
import { Context, Effect, Layer, Redacted } from "effect"
import type { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import { Keyring } from "../encryption/Keyring.ts"
import { NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import { certificatePlace } from "./DomainCertificate.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { DomainStore } from "./DomainStore.ts"
import { hostOfHeader } from "./HostName.ts"

export interface OpenCertificate {
  /** PEM: the certificate, then those that lead to its authority. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: Redacted.Redacted<string>
}

export class DomainCertificates extends Context.Service<
  DomainCertificates,
  {
    /**
     * The certificate for a name as a TLS client says it; the same object until it changes. `NotFound` for a name
     * that is no custom domain, without asking the store, and for one whose certificate is elsewhere.
     */
    readonly of: (serverName: string) => Effect.Effect<OpenCertificate, NotFound | StoreUnavailable>
  }
>()("@weft/core/domains/DomainCertificates") {
  static readonly layer: Layer.Layer<DomainCertificates, never, DomainStore | DomainRoutes | Feed | Keyring> =
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
            (error) => Effect.andThen(Effect.logError(error.message), Effect.fail(none))
          )
          return { chain, privateKey: Redacted.make(opened) }
        })

        const snapshots = yield* makeSnapshots(open, { capacity: 10_000, ageLimit: "60 seconds" })
        yield* listen(
          (message) => (message.type === "domains:changed" ? snapshots.forget(message.domain) : Effect.void),
          snapshots.forgetAll
        )

        return DomainCertificates.of({
          of: (serverName) =>
            Effect.flatMap(routes.resolve(serverName), (route) =>
              route === null ? Effect.fail(none) : snapshots.get(hostOfHeader(serverName))
            )
        })
      })
    )
}

const none = new NotFound({ resource: "certificate" })
