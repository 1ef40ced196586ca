/** Where context variables live, their values sealed. They go with their project. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { EnvId, ProjectId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { ContextVariable } from "./ContextVariable.ts"

export class ContextVariableStore extends Context.Service<
  ContextVariableStore,
  {
    /** `Taken` ("key") when the project has a variable of that key; `NotFound` ("project") when the project is gone. */
    readonly insert: (variable: ContextVariable) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly get: (
      envId: EnvId,
      projectId: ProjectId,
      key: string
    ) => Effect.Effect<ContextVariable, NotFound | StoreUnavailable>
    /** By key, as bytes. */
    readonly list: (
      envId: EnvId,
      projectId: ProjectId,
      page: PageRequest
    ) => Effect.Effect<Page<ContextVariable>, StoreUnavailable>
    /** All of a project, by key: what its functions may read. */
    readonly all: (
      envId: EnvId,
      projectId: ProjectId
    ) => Effect.Effect<ReadonlyArray<ContextVariable>, StoreUnavailable>
    /** Replaces `value`, `description` and `updated_at`. */
    readonly update: (variable: ContextVariable) => Effect.Effect<void, NotFound | StoreUnavailable>
    readonly remove: (
      envId: EnvId,
      projectId: ProjectId,
      key: string
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/secrets/ContextVariableStore") {}
