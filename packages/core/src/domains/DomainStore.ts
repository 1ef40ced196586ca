/** Where custom domains and their certificates live. */
import { Context, type Effect } from "effect"
import type { DomainExists, DomainLimitReached, NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { DomainId, EnvId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Domain, DomainRoute } from "./Domain.ts"
import type { DomainCertificate } from "./DomainCertificate.ts"

export interface DomainClaim {
  readonly now: Timestamp
  /** Until when the claimed domains are held: due again then, should nobody settle them. */
  readonly until: Timestamp
}

export interface Claimed {
  readonly domains: ReadonlyArray<Domain>
  /** When the next of the rest is due; null when there is none. */
  readonly next_due_at: Timestamp | null
}

export class DomainStore extends Context.Service<
  DomainStore,
  {
    /**
     * Stores a new domain, unless its organization has `limit` others (-1: no limit), not counting those that are
     * being deleted: `DomainLimitReached`; then, unless its name is registered: `DomainExists`. In one transaction.
     */
    readonly insert: (
      domain: Domain,
      limit: number
    ) => Effect.Effect<void, DomainLimitReached | DomainExists | StoreUnavailable>
    readonly get: (envId: EnvId, id: DomainId) => Effect.Effect<Domain, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly list: (envId: EnvId, page: PageRequest) => Effect.Effect<Page<Domain>, StoreUnavailable>

    /** Every domain that requests are routed by, of all environments, in any order. */
    readonly routes: Effect.Effect<ReadonlyArray<DomainRoute>, StoreUnavailable>
    /** The route of one name; `NotFound` when requests are not routed by it. */
    readonly route: (domain: string) => Effect.Effect<DomainRoute, NotFound | StoreUnavailable>

    /**
     * Takes up to `limit` domains of all environments whose check is due, the longest due first, and gives them, in
     * any order, with `held_until` and `next_check_at` set to `until` and a raised version. Two concurrent claims
     * never take the same domain.
     */
    readonly claim: (claim: DomainClaim & { readonly limit: number }) => Effect.Effect<Claimed, StoreUnavailable>
    /** Takes one domain as `claim` does, due or not; null when somebody holds it at `now`. */
    readonly hold: (
      envId: EnvId,
      id: DomainId,
      claim: DomainClaim
    ) => Effect.Effect<Domain | null, NotFound | StoreUnavailable>
    /**
     * What a check came to: replaces `status`, `routing_domain` and the fields of checking by those of `domain`, and
     * with a `certificate` the one that is there, in one transaction. `domain.version` must be the stored version,
     * which is raised; false, and nothing changes, when it is not, or when the domain is gone.
     */
    readonly settle: (domain: Domain, certificate: DomainCertificate | null) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Makes the domain `deleting`, due at `now` and held by nobody, and gives it. `NotFound` also when it is
     * `deleting` already.
     */
    readonly beginRemoval: (
      envId: EnvId,
      id: DomainId,
      now: Timestamp
    ) => Effect.Effect<Domain, NotFound | StoreUnavailable>
    /** Removes a `deleting` domain of that version with its certificate; false, and nothing changes, otherwise. */
    readonly remove: (domain: Domain) => Effect.Effect<boolean, StoreUnavailable>

    readonly certificate: (id: DomainId) => Effect.Effect<DomainCertificate, NotFound | StoreUnavailable>
    /** The certificate of a name that requests are routed by. */
    readonly certificateOf: (domain: string) => Effect.Effect<DomainCertificate, NotFound | StoreUnavailable>
  }
>()("@weft/core/domains/DomainStore") {}
