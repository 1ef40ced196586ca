/** Where projects live. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { EnvId, ProjectId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Project } from "./Project.ts"

export class ProjectStore extends Context.Service<
  ProjectStore,
  {
    /** `Taken` ("project name") when the environment has one of that name. */
    readonly insert: (project: Project) => Effect.Effect<void, Taken | StoreUnavailable>
    /** By id or by name, of this environment only. */
    readonly get: (envId: EnvId, idOrName: string) => Effect.Effect<Project, NotFound | StoreUnavailable>
    /** Newest first. `only`, when given, restricts to projects whose id or name it holds. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      only?: ReadonlyArray<string>
    ) => Effect.Effect<Page<Project>, StoreUnavailable>
    /** Replaces `name` and `updated_at`. */
    readonly update: (project: Project) => Effect.Effect<void, NotFound | Taken | StoreUnavailable>
    /**
     * Removes the project with its builds, their endpoints and its schedules, in one transaction. Runs and events stay.
     * The keys of the builds' zips and artifacts are loose from now on (`FileStore`), to be taken at once.
     */
    readonly remove: (envId: EnvId, id: ProjectId) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/projects/ProjectStore") {}
