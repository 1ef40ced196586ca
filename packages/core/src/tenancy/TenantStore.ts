/** Where organizations and environments live. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { EnvId, OrgId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Announcement } from "./Announcement.ts"
import type { Env, Org } from "./Tenant.ts"

export class TenantStore extends Context.Service<
  TenantStore,
  {
    /** `Taken` ("slug") when another organization has the slug. Stores the announcement with it, or neither. */
    readonly insertOrg: (org: Org, announcement?: Announcement) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getOrg: (idOrSlug: string) => Effect.Effect<Org, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly listOrgs: (page: PageRequest) => Effect.Effect<Page<Org>, StoreUnavailable>
    /** Replaces `name`, `plan`, `members` and `updated_at`. */
    readonly updateOrg: (org: Org) => Effect.Effect<void, NotFound | StoreUnavailable>

    /** `Taken` ("environment name") when the organization has one of that name. Stores the announcement with it, or neither. */
    readonly insertEnv: (env: Env, announcement?: Announcement) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getEnv: (id: EnvId) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** The environment behind a webhook URL. */
    readonly findEnv: (orgSlug: string, envName: string) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly listEnvs: (orgId: OrgId, page: PageRequest) => Effect.Effect<Page<Env>, StoreUnavailable>

    /** Announcements of these kinds that are due at `now`, the longest due first, then by `tenant_id`. */
    readonly dueAnnouncements: (
      kinds: ReadonlyArray<Announcement["kind"]>,
      now: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Announcement>, StoreUnavailable>
    /**
     * Puts the announcement in the place of the one that has an attempt less. False, and nothing is stored, when there is
     * no such one: somebody else makes this attempt, or the host has been told.
     */
    readonly updateAnnouncement: (announcement: Announcement) => Effect.Effect<boolean, StoreUnavailable>
    /** Removing what is not there is no failure. */
    readonly removeAnnouncement: (tenantId: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/tenancy/TenantStore") {}
