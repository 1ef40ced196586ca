/**
 * Deploys a build: activates it for its project's triggers.
 *
 * Checks everything that depends on the build before the single transaction that changes state. To roll back, deploy an
 * older build.
 */
import { Effect, Schema } from "effect"
import {
  type BadRequest,
  type CanaryActive,
  type ContentDamaged,
  type DeploymentRefused,
  type Forbidden,
  NotFound,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { BuildId } from "../../foundation/Ids.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { Sandbox, type SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import { artifactKey } from "./Artifacts.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { BuildZips } from "./BuildZips.ts"
import type { Canary, NewCanary } from "./Canary.ts"
import { makeCanaryStart } from "./CanaryStart.ts"
import { Deployments } from "./Deployments.ts"
import { makeCheckPolicy } from "./DeployPolicy.ts"
import { toEndpointConflict } from "./EndpointConflict.ts"
import type { Manifest } from "./Manifest.ts"
import { makePrepare } from "./Preparation.ts"
import { PreparationQueue } from "./PreparationQueue.ts"
import { Quarantines } from "./Quarantines.ts"

export interface DeployOptions {
  /** Gives the build a share of the events and calls of the project; without it, the build gets all. */
  readonly canary?: NewCanary
  /** Ends an active canary of the project. Without it, the deployment fails with `CanaryActive`. */
  readonly replace?: boolean
}

export type Deploy = (
  project: string,
  buildId: string,
  options?: DeployOptions
) => Effect.Effect<
  Build,
  | Forbidden
  | NotFound
  | BadRequest
  | CanaryActive
  | DeploymentRefused
  | ContentDamaged
  | SandboxUnavailable
  | StoreUnavailable,
  Caller
>

export const makeDeploy = Effect.gen(function* () {
  const store = yield* BuildStore
  const blobs = yield* BlobStore
  const zips = yield* BuildZips
  const projects = yield* ProjectStore
  const sandbox = yield* Sandbox
  const deployments = yield* Deployments
  const prepare = yield* makePrepare
  const queue = yield* PreparationQueue
  const quarantines = yield* Quarantines
  const canaries = yield* makeCanaryStart
  const checkPolicy = yield* makeCheckPolicy

  /** Activates the build. Uninterruptible, so that no node keeps an outdated snapshot. */
  const activate = Effect.fnUntraced(function* (build: Build, manifest: Manifest) {
    yield* Effect.mapError(store.deploy(build, manifest, yield* now), (error) =>
      error._tag === "Taken" ? toEndpointConflict(error, manifest) : error
    )
    yield* canaries.endReplaced(build)
    yield* quarantines.clear(build.build_id)
    yield* deployments.changed(build.env_id)
  }, Effect.uninterruptible)

  /** Starts the canary. Uninterruptible for the same reason. */
  const start = Effect.fnUntraced(function* (
    canary: Canary,
    build: Build,
    manifest: Manifest,
    { replace = false }: DeployOptions
  ) {
    yield* canaries.begin(canary, build, manifest, replace)
    yield* quarantines.clear(build.build_id)
    yield* deployments.changed(build.env_id)
  }, Effect.uninterruptible)

  return Effect.fnUntraced(function* (idOrName, buildId, options = {}) {
    const { project } = yield* resolveProject(projects, idOrName, "build", "execute")
    const build = yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id)
    const canary = options.canary === undefined ? null : yield* canaries.prepare(build, options.canary)
    if (options.replace !== true) yield* canaries.checkNone(build)
    const zip = zips.get(build)
    const { manifest, artifact } = yield* queue.withTurn(build.env_id)(Effect.flatMap(zip, prepare))
    yield* checkPolicy(build, manifest)
    const activated = Effect.gen(function* () {
      yield* blobs.put(artifactKey(build), artifact)
      if (canary === null) yield* activate(build, manifest)
      else yield* start(canary, build, manifest, options)
    })
    // The first call usually follows soon after a deployment.
    const warm = sandbox.warm({ env_id: build.env_id, build_id: build.build_id, artifact })
    yield* Effect.all([warm, activated], { concurrency: 2, discard: true })
    return yield* store.get(build.env_id, build.build_id)
  }) satisfies Deploy
})

/** Parses the id of a build. An invalid id is `NotFound`. */
export const toBuildId = (text: string): Effect.Effect<BuildId, NotFound> => {
  const id = toIdOrName(text)
  return isBuildId(id) ? Effect.succeed(id) : Effect.fail(noSuchBuild)
}

const isBuildId = Schema.is(BuildId)

const noSuchBuild = new NotFound({ resource: "build" })
