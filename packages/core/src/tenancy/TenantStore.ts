/** Where organizations and environments live. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { EnvId, OrgId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Env, Org } from "./Tenant.ts"

export class TenantStore extends Context.Service<
  TenantStore,
  {
    /** `Taken` ("slug") when another organization has the slug. */
    readonly insertOrg: (org: Org) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getOrg: (idOrSlug: string) => Effect.Effect<Org, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly listOrgs: (page: PageRequest) => Effect.Effect<Page<Org>, StoreUnavailable>
    /** Replaces `name`, `plan`, `members` and `updated_at`. */
    readonly updateOrg: (org: Org) => Effect.Effect<void, NotFound | StoreUnavailable>

    /** `Taken` ("environment name") when the organization has one of that name. */
    readonly insertEnv: (env: Env) => Effect.Effect<void, Taken | StoreUnavailable>
    readonly getEnv: (id: EnvId) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** The environment behind a webhook URL. */
    readonly findEnv: (orgSlug: string, envName: string) => Effect.Effect<Env, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly listEnvs: (orgId: OrgId, page: PageRequest) => Effect.Effect<Page<Env>, StoreUnavailable>
  }
>()("@weft/core/tenancy/TenantStore") {}
