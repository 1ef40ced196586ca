/** Where context variables live, their values sealed. They go with their project. */
import { Context, type Effect } from "effect"
import type { Sealed } from "../encryption/Sealed.ts"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { EnvId, ProjectId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { ContextVariable } from "./ContextVariable.ts"

/** What is left out stays as it is. */
export interface ContextChange {
  readonly value?: Sealed
  readonly description?: string
  readonly updated_at: Timestamp
}

export class ContextVariableStore extends Context.Service<
  ContextVariableStore,
  {
    /** `Taken` ("context key") when the project has one of that key; `NotFound` ("project") when the project is gone. */
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
    /** The variable as it is afterwards. Reads nothing first, so that changes at once lose none of each other's. */
    readonly update: (
      envId: EnvId,
      projectId: ProjectId,
      key: string,
      change: ContextChange
    ) => Effect.Effect<ContextVariable, NotFound | StoreUnavailable>
    readonly remove: (
      envId: EnvId,
      projectId: ProjectId,
      key: string
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/secrets/ContextVariableStore") {}
