/** Storage of custom domains and their certificates. */
import { Context, type Effect } from "effect"
import type { DomainExists, DomainLimitReached, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { DomainId, EnvId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Domain, DomainRoute } from "./Domain.ts"
import type { DomainCertificate } from "./DomainCertificate.ts"

export interface DomainClaim {
  readonly now: Timestamp
  /** Expiry of the claim. A domain that is not settled is due again then. */
  readonly until: Timestamp
}

export interface Claimed {
  readonly domains: ReadonlyArray<Domain>
  /** Time when the next unclaimed domain is due, or null. */
  readonly next_due_at: Timestamp | null
}

export class DomainStore extends Context.Service<
  DomainStore,
  {
    /**
     * Stores a new domain in one transaction. `DomainLimitReached` if the organization has `limit` domains (-1 for
     * unlimited), without those that are being deleted. Then `DomainExists` if the name is registered.
     */
    readonly insert: (
      domain: Domain,
      limit: number
    ) => Effect.Effect<void, DomainLimitReached | DomainExists | StoreUnavailable>
    readonly get: (envId: EnvId, id: DomainId) => Effect.Effect<Domain, NotFound | StoreUnavailable>
    /** Lists domains, newest first. */
    readonly list: (envId: EnvId, page: PageRequest) => Effect.Effect<Page<Domain>, StoreUnavailable>

    /** Routes of all environments, in any order. */
    readonly routes: Effect.Effect<ReadonlyArray<DomainRoute>, StoreUnavailable>
    /** Returns the route of a name. `NotFound` if the domain is not routed. */
    readonly route: (domain: string) => Effect.Effect<DomainRoute, NotFound | StoreUnavailable>

    /**
     * Claims at most `limit` due domains of all environments, in the order of `next_check_at`. Sets `held_until` and
     * `next_check_at` to `until`, increments the version, and returns the domains in any order. Concurrent claims never
     * return the same domain.
     */
    readonly claim: (claim: DomainClaim & { readonly limit: number }) => Effect.Effect<Claimed, StoreUnavailable>
    /** Claims one domain like `claim`, due or not. Returns null if another claim is valid at `now`. */
    readonly hold: (
      envId: EnvId,
      id: DomainId,
      claim: DomainClaim
    ) => Effect.Effect<Domain | null, NotFound | StoreUnavailable>
    /**
     * Stores the result of a check in one transaction: `status`, `routing_domain`, the fields of checking, and the
     * `certificate` unless it is null. Increments the version. Returns false and changes nothing if `domain.version` is not
     * the stored version, or if the domain does not exist.
     */
    readonly settle: (domain: Domain, certificate: DomainCertificate | null) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Sets the status `deleting`, due at `now` and without a claim, and returns the domain. `NotFound` also if it is
     * already `deleting`.
     */
    readonly beginRemoval: (
      envId: EnvId,
      id: DomainId,
      now: Timestamp
    ) => Effect.Effect<Domain, NotFound | StoreUnavailable>
    /** Removes a `deleting` domain of that version with its certificate. Otherwise returns false and changes nothing. */
    readonly remove: (domain: Domain) => Effect.Effect<boolean, StoreUnavailable>

    readonly certificate: (id: DomainId) => Effect.Effect<DomainCertificate, NotFound | StoreUnavailable>
    /** Returns the certificate of a routed name. */
    readonly certificateOf: (domain: string) => Effect.Effect<DomainCertificate, NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/domains/DomainStore") {}
