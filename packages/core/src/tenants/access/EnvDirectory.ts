/** Existence checks of environments, which `access` needs and `orgs` implements. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"

export class EnvDirectory extends Context.Service<
  EnvDirectory,
  {
    /** Fails with `NotFound` ("environment") if the environment does not exist. */
    readonly require: (envId: EnvId) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/tenants/access/EnvDirectory") {}
