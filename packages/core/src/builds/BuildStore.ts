/** Where builds and deployments live. The bytes are in the blob store. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../errors/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Build } from "./Build.ts"
import type { Manifest } from "./Manifest.ts"

/** The build that serves a project's triggers, with what it offers. */
export interface Deployment {
  readonly build: Build
  readonly manifest: Manifest
}

export class BuildStore extends Context.Service<
  BuildStore,
  {
    /**
     * `Taken` ("build_id") when a build of any project has the id. `project_name` and `deployed` are not stored. The note
     * that its bytes are loose (`FileStore.announce`) goes in the same transaction; when they were taken, nothing is
     * stored and it is `StoreUnavailable`: the upload may be repeated.
     */
    readonly insert: (build: Build) => Effect.Effect<void, Taken | StoreUnavailable>
    /** A build of this environment, of `projectId` when given. */
    readonly get: (
      envId: EnvId,
      id: BuildId,
      projectId?: ProjectId
    ) => Effect.Effect<Build, NotFound | StoreUnavailable>
    /** Newest first, across the environment; of `projectId` when given; `only` restricts to project ids or names. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: { readonly projectId?: ProjectId; readonly only?: ReadonlyArray<string> }
    ) => Effect.Effect<Page<Build>, StoreUnavailable>
    /**
     * Makes the build the deployed one of its project, with `manifest`, in one transaction; the one before stops
     * being it. The project's static schedules become those of `manifest`, unless a live build serves it; one that it
     * had before stays the same, with its id, which the stored manifest names. `Taken` ("METHOD /service/path") when
     * another project of the environment has an endpoint of it: then nothing changes.
     */
    readonly deploy: (
      build: Build,
      manifest: Manifest,
      at: Timestamp
    ) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly deployed: (envId: EnvId, projectId: ProjectId) => Effect.Effect<Deployment, NotFound | StoreUnavailable>
    /**
     * Stores a new build and makes it the live one of its project, with `manifest`, in one transaction; the one before
     * stops being it. Until `endLive` the project's static schedules are its own. The project keeps the endpoints of its
     * deployed build besides, so that it can go back. `Taken` as `insert` and `deploy` have it, `NotFound` without the
     * project: then nothing changes. Notes of loose bytes as with `insert`.
     */
    readonly goLive: (build: Build, manifest: Manifest) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    readonly live: (envId: EnvId, projectId: ProjectId) => Effect.Effect<Deployment, NotFound | StoreUnavailable>
    /** The project has no live build any more, and the schedules of its deployed one. `NotFound` when it had none. */
    readonly endLive: (
      envId: EnvId,
      projectId: ProjectId,
      at: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** What serves the projects of the environment, by project id: the live build of each, else the deployed one. */
    readonly deployments: (envId: EnvId) => Effect.Effect<ReadonlyArray<Deployment>, StoreUnavailable>
  }
>()("@weft/core/builds/BuildStore") {}
