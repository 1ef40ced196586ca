/** Storage of projects. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Project } from "./Project.ts"
import type { RemovedProject } from "./RemovedProject.ts"

export class ProjectStore extends Context.Service<
  ProjectStore,
  {
    /** Stores a project. `Taken` ("project name") if the environment has a project of that name. */
    readonly insert: (project: Project) => Effect.Effect<void, Taken | StoreUnavailable>
    /** Returns a project of this environment by id or name. */
    readonly get: (envId: EnvId, idOrName: string) => Effect.Effect<Project, NotFound | StoreUnavailable>
    /** Lists projects, newest first. `only` is a list of ids or names. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Project>, StoreUnavailable>
    /** Replaces `name` and `updated_at`. */
    readonly update: (project: Project) => Effect.Effect<void, NotFound | Taken | StoreUnavailable>
    /**
     * Removes the project with its builds, their endpoints and its schedules, in one transaction. Keeps runs and events.
     * Adds expired reservations (`FileStore`) for the zips and artifacts of the builds, so that the janitor removes them.
     * Its previews expire at once. Adds a `RemovedProject`: from then on the journal discards the project's deliveries instead of claiming them.
     */
    readonly remove: (envId: EnvId, id: ProjectId, at: Timestamp) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Lists removed projects that are not swept, by id after `after`, at most `limit`. */
    readonly removals: (
      after: ProjectId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<RemovedProject>, StoreUnavailable>
    /** Marks a removed project as swept. */
    readonly markSwept: (id: ProjectId) => Effect.Effect<void, StoreUnavailable>
    /** Removes the records of swept projects that were removed before `before`. */
    readonly forgetRemovals: (before: Timestamp) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/resources/projects/ProjectStore") {}
