/**
 * Contents of a project outside its record: builds, their bytes and active deployments.
 *
 * A seam, because builds depend on projects. `builds/BuildContents` implements it.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { Project } from "./Project.ts"

export class ProjectContents extends Context.Service<
  ProjectContents,
  {
    /** Updates dependent state after the project was renamed. */
    readonly renamed: (project: Project) => Effect.Effect<void>
    /**
     * Prepares the removal of the project, which also removes the records of its builds. Call it before the removal. After
     * the removal, run the returned effect: it removes the remaining bytes, and leaves failures to the janitor.
     */
    readonly detach: (project: Project) => Effect.Effect<Effect.Effect<void>, StoreUnavailable>
  }
>()("@weft/core/resources/projects/ProjectContents") {}
