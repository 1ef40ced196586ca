/** Storage of organizations and environments. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../../foundation/Errors.ts"
import type { EnvId, OrgId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Env, Org } from "./Tenant.ts"
import type { TenantHookJob } from "./TenantHookJob.ts"

export class TenantStore extends Context.Service<
  TenantStore,
  {
    /** Stores the organization and the job in one transaction. `Taken` ("slug") if another organization has the slug. */
    readonly insertOrg: (org: Org, job?: TenantHookJob) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getOrg: (idOrSlug: string) => Effect.Effect<Org, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly listOrgs: (page: PageRequest) => Effect.Effect<Page<Org>, StoreUnavailable>
    /** Replaces `name`, `plan`, `members` and `updated_at`. */
    readonly updateOrg: (org: Org) => Effect.Effect<void, NotFound | StoreUnavailable>

    /**
     * Stores the environment and the job in one transaction. `Taken` ("environment name") if the organization has an
     * environment of that name.
     */
    readonly insertEnv: (env: Env, job?: TenantHookJob) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getEnv: (id: EnvId) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** Returns the environments of previews that get copies of the events of this environment, by id. */
    readonly copiesTo: (id: EnvId) => Effect.Effect<ReadonlyArray<EnvId>, StoreUnavailable>
    /** Returns the environment of a webhook URL. */
    readonly findEnv: (orgSlug: string, envName: string) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** Newest first. `standing` leaves out previews. */
    readonly listEnvs: (
      orgId: OrgId,
      page: PageRequest,
      which?: "standing" | "all"
    ) => Effect.Effect<Page<Env>, StoreUnavailable>

    /** Returns jobs of these kinds that are due at `now`, in the order of `due_at`, then `tenant_id`. */
    readonly dueHookJobs: (
      kinds: ReadonlyArray<TenantHookJob["kind"]>,
      now: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<TenantHookJob>, StoreUnavailable>
    /**
     * Replaces the stored job if it has one attempt less. Otherwise stores nothing and returns false: another node makes
     * this attempt, or the hook has succeeded.
     */
    readonly updateHookJob: (job: TenantHookJob) => Effect.Effect<boolean, StoreUnavailable>
    /** Removes the job. Succeeds if it does not exist. */
    readonly removeHookJob: (tenantId: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/tenants/orgs/TenantStore") {}
