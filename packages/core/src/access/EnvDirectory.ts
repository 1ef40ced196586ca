/** Which environments there are, as far as credentials need to know. Tenancy implements it. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"

export class EnvDirectory extends Context.Service<
  EnvDirectory,
  {
    /** Fails with `NotFound` ("environment") when there is no such environment. */
    readonly require: (envId: EnvId) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/access/EnvDirectory") {}
