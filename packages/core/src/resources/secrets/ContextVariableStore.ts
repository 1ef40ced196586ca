/** Storage of context variables with encrypted values. Removing a project removes its variables. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Sealed } from "../../platform/encryption/Sealed.ts"
import type { ContextVariable } from "./ContextVariable.ts"

/** Changes of a variable. Absent fields are not changed. */
export interface ContextChange {
  readonly value?: Sealed
  readonly description?: string
  readonly updated_at: Timestamp
}

export class ContextVariableStore extends Context.Service<
  ContextVariableStore,
  {
    /** Stores a variable. `Taken` ("context key") if the key exists, `NotFound` ("project") if the project does not. */
    readonly insert: (variable: ContextVariable) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly get: (
      envId: EnvId,
      projectId: ProjectId,
      key: string
    ) => Effect.Effect<ContextVariable, NotFound | StoreUnavailable>
    /** Lists variables in the byte order of their keys. */
    readonly list: (
      envId: EnvId,
      projectId: ProjectId,
      page: PageRequest
    ) => Effect.Effect<Page<ContextVariable>, StoreUnavailable>
    /** Returns all variables of a project by key, for its functions. */
    readonly all: (
      envId: EnvId,
      projectId: ProjectId
    ) => Effect.Effect<ReadonlyArray<ContextVariable>, StoreUnavailable>
    /** Changes a variable and returns it. One statement without a prior read, so that concurrent changes are not lost. */
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
>()("@weft/core/resources/secrets/ContextVariableStore") {}
