/**
 * Making a build the one that serves its project's triggers.
 *
 * Everything that can fail by the author's fault comes before the one transaction that changes anything.
 * Deploying an older build again is the rollback.
 */
import { Effect, PartitionedSemaphore, Schema } from "effect"
import type { Caller } from "../access/Caller.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import { BadRequest, type Forbidden, NotFound, StoreUnavailable, type Taken } from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { BuildId, type EnvId } from "../ids/Ids.ts"
import { now } from "../ids/Timestamp.ts"
import { namedProject } from "../projects/NamedProject.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { Sandbox, type SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { artifactKey } from "./Artifacts.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { Deployments } from "./Deployments.ts"
import { endpointName, type Manifest } from "./Manifest.ts"
import { badMeta } from "./Meta.ts"
import { makePrepare } from "./Preparation.ts"

export type Deploy = (
  project: string,
  buildId: string
) => Effect.Effect<Build, Forbidden | NotFound | BadRequest | SandboxUnavailable | StoreUnavailable, Caller>

/** Builds that are in memory to be loaded, each as a whole; environments take turns. */
const atOnce = 2

export const makeDeploy = Effect.gen(function* () {
  const store = yield* BuildStore
  const blobs = yield* BlobStore
  const projects = yield* ProjectStore
  const sandbox = yield* Sandbox
  const deployments = yield* Deployments
  const prepare = yield* makePrepare
  const turns = yield* PartitionedSemaphore.make<EnvId>({ permits: atOnce })

  /** Whoever goes away in the middle leaves no node with an old snapshot. */
  const serve = Effect.fnUntraced(function* (build: Build, manifest: Manifest) {
    yield* Effect.mapError(store.deploy(build, manifest, yield* now), (error) =>
      error._tag === "Taken" ? servedElsewhere(error, manifest) : error
    )
    yield* sandbox.pardon(build.build_id)
    yield* deployments.changed(build.env_id)
  }, Effect.uninterruptible)

  return Effect.fnUntraced(function* (idOrName, buildId) {
    const { project } = yield* namedProject(projects, idOrName, "build", "execute")
    const build = yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id)
    const zip = inStore(blobs.get(build.storage_path), build)
    const { manifest, artifact } = yield* turns.withPermit(build.env_id)(Effect.flatMap(zip, prepare))
    const stored = Effect.andThen(blobs.put(artifactKey(build), artifact), serve(build, manifest))
    // Who deploys calls soon.
    const warm = sandbox.warm({ env_id: build.env_id, build_id: build.build_id, artifact })
    yield* Effect.all([warm, stored], { concurrency: 2, discard: true })
    return yield* store.get(build.env_id, build.build_id)
  }) satisfies Deploy
})

/** What the caller is told whose build has an endpoint of another project. */
export const servedElsewhere = ({ what }: Taken, { endpoints }: Manifest): BadRequest => {
  const reason = `claims ${what}, which another project of the environment serves already`
  const own = endpoints.find((endpoint) => endpointName(endpoint) === what)
  // It may be one of the other build that the project serves.
  return own === undefined ? new BadRequest({ reason }) : badMeta(own, "webhook", reason)
}

/** What cannot be the id of a build is not there. */
export const toBuildId = (text: string): Effect.Effect<BuildId, NotFound> => {
  const id = toIdOrName(text)
  return isBuildId(id) ? Effect.succeed(id) : Effect.fail(noSuchBuild)
}

/** The bytes of a stored build. That they are missing is the store's fault, not the caller's. */
export const inStore = <A, R>(
  bytes: Effect.Effect<A, NotFound | StoreUnavailable, R>,
  { build_id }: Build
): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.catchTag(bytes, "NotFound", (cause) =>
    Effect.fail(new StoreUnavailable({ operation: `zip of build ${build_id}`, cause }))
  )

const isBuildId = Schema.is(BuildId)

const noSuchBuild = new NotFound({ resource: "build" })
