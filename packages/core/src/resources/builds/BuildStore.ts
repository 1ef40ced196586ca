/** Storage of builds and deployments. The bytes are in the blob store. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../../foundation/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import type { Build } from "./Build.ts"
import type { Manifest } from "./Manifest.ts"

/** The active build of a project and its manifest. */
export interface Deployment {
  readonly build: Build
  readonly manifest: Manifest
}

/** The functions of a project's active build with a retention of their own. */
export interface ProjectRetention {
  readonly env_id: EnvId
  readonly project_id: ProjectId
  readonly functions: ReadonlyArray<FunctionRef & { readonly retention_ms: number }>
}

/** Returns the functions of a manifest with a retention of their own. */
export const retainingFunctions = ({ functions }: Manifest): ProjectRetention["functions"] =>
  functions.flatMap(({ ns, var: name, retention_ms }) =>
    retention_ms === undefined ? [] : [{ ns, var: name, retention_ms }]
  )

export class BuildStore extends Context.Service<
  BuildStore,
  {
    /**
     * Stores a build without its `project_name` and `deployed`. `Taken` ("build_id") if a build of any project has the id.
     * The same transaction removes the reservation of its bytes (`FileStore.reserve`). If the reservation was claimed,
     * stores nothing and fails with `StoreUnavailable`; the client may retry the upload.
     */
    readonly insert: (build: Build) => Effect.Effect<void, Taken | StoreUnavailable>
    /** Returns a build of this environment, and of `projectId` if given. */
    readonly get: (
      envId: EnvId,
      id: BuildId,
      projectId?: ProjectId
    ) => Effect.Effect<Build, NotFound | StoreUnavailable>
    /** Lists the builds of the environment, newest first. `only` is a list of project ids or names. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: { readonly projectId?: ProjectId; readonly only?: ReadonlyArray<string> }
    ) => Effect.Effect<Page<Build>, StoreUnavailable>
    /**
     * Makes the build the deployed one of its project, with `manifest`, in one transaction. Unless the project has a live
     * build, its static schedules become those of `manifest`. Unchanged schedules keep their ids, which the stored
     * manifest contains. `Taken` ("METHOD /service/path"), without changes, if another project of the environment has one
     * of the endpoints.
     */
    readonly deploy: (
      build: Build,
      manifest: Manifest,
      at: Timestamp
    ) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly deployed: (envId: EnvId, projectId: ProjectId) => Effect.Effect<Deployment, NotFound | StoreUnavailable>
    /**
     * Stores a new build and makes it the live one of its project, with `manifest`, in one transaction. Until `endLive`,
     * its schedules replace those of the deployed build. The project also keeps the endpoints of the deployed build, so
     * that `endLive` cannot conflict. Fails without changes: `Taken` as for `insert` and `deploy`, `NotFound` if the
     * project does not exist. Handles reservations like `insert`.
     */
    readonly goLive: (build: Build, manifest: Manifest) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly live: (envId: EnvId, projectId: ProjectId) => Effect.Effect<Deployment, NotFound | StoreUnavailable>
    /** Ends the live build, and restores the schedules of the deployed build. `NotFound` if there is no live build. */
    readonly endLive: (
      envId: EnvId,
      projectId: ProjectId,
      at: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Returns the active builds of the environment in the order of project ids: the live build, or the deployed one. */
    readonly deployments: (envId: EnvId) => Effect.Effect<ReadonlyArray<Deployment>, StoreUnavailable>
    /**
     * Returns projects of all environments whose active build has functions with a retention of their own. They are in the
     * order of their ids, after `after`, or from the first if that is null; at most `limit`.
     */
    readonly retentions: (
      after: ProjectId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ProjectRetention>, StoreUnavailable>
  }
>()("@weft/core/resources/builds/BuildStore") {}
