/**
 * What hangs on a project besides its own record: builds, their bytes, what it serves.
 *
 * The seam between projects and what comes after them; `builds/BuildContents` implements it.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Project } from "./Project.ts"

export class ProjectContents extends Context.Service<
  ProjectContents,
  {
    /** To be called after the project got another name. */
    readonly renamed: (project: Project) => Effect.Effect<void>
    /**
     * To be called before the project is removed from the store, which takes its builds along. The effect that it
     * gives clears away what remains, as well as it can; it is to be run once the project is gone.
     */
    readonly detach: (project: Project) => Effect.Effect<Effect.Effect<void>, StoreUnavailable>
  }
>()("@weft/core/projects/ProjectContents") {}
