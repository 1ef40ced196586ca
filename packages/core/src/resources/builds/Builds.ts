/** Builds of the caller's environment. Methods check the permission first, then the input, then use the stores. */
import { Bytes, Context, Effect, Layer, type Scope, type Stream } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { type ContentDamaged, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import type { BlobStore, ByteRange } from "../../platform/blobs/BlobStore.ts"
import type { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { FunctionRef, Sandbox } from "../../platform/sandbox/Sandbox.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import type { FileStore } from "../files/FileStore.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import type { Build } from "./Build.ts"
import { makeReadBuildManifest, type ReadBuildManifest, type ReadCapabilities } from "./BuildManifest.ts"
import { BuildStore, type Deployment } from "./BuildStore.ts"
import { BuildZips } from "./BuildZips.ts"
import type { CanaryStore } from "./CanaryStore.ts"
import { type Deploy, makeDeploy, toBuildId } from "./Deploy.ts"
import type { Deployments } from "./Deployments.ts"
import { type LiveBuilds, makeLiveBuilds } from "./LiveBuilds.ts"
import type { EventHandler, ScheduleEntry } from "./Manifest.ts"
import type { PreparationQueue } from "./PreparationQueue.ts"
import type { Quarantines } from "./Quarantines.ts"
import { makeRelease, makeReleaseForHost, type Release, type ReleaseForHost } from "./Release.ts"
import { makeUpload, type Upload } from "./Upload.ts"

/** An entry of a manifest with the id of its build. */
export type WithBuildId<A> = A & { readonly build_id: BuildId }

type Denied = Forbidden | StoreUnavailable

export interface BuildDownload {
  readonly build: Build
  /** Streams the bytes of the zip or of a range, with back-pressure. A damaged zip fails before its end. */
  readonly read: (
    range?: ByteRange
  ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable | ContentDamaged>, StoreUnavailable, Scope.Scope>
}

export class Builds extends Context.Service<
  Builds,
  {
    /**
     * Stores a build. Needs `build: create`, or `build: execute` for a live build, which becomes active at once. Fails
     * with `BadRequest`, and stores nothing, if the hash, the id or the zip is invalid. A live build also fails for the
     * reasons of `deploy`.
     */
    readonly upload: Upload
    /** Lists the builds of all projects whose builds the caller may read, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Build>, Denied, Caller>
    /** Lists the builds of one project, newest first. */
    readonly listOf: (project: string, page: PageRequest) => Effect.Effect<Page<Build>, Denied | NotFound, Caller>
    readonly get: (project: string, buildId: string) => Effect.Effect<Build, Denied | NotFound, Caller>
    readonly deployed: (project: string) => Effect.Effect<Build, Denied | NotFound, Caller>
    /** Returns the live build, which replaces the deployed build. */
    readonly live: LiveBuilds["live"]
    /** Ends the live build, so that the deployed build is active again on every node. Needs `build: execute`. */
    readonly endLive: LiveBuilds["endLive"]
    /**
     * Returns the build with its manifest. A build that is not active is loaded in a new sandbox: `BadRequest` if it cannot
     * be loaded, or if its metadata is invalid.
     */
    readonly manifest: ReadBuildManifest
    /**
     * Returns what the build uses and declares; with `compare`, also the difference to the deployed build. Fails as
     * `manifest` does.
     */
    readonly capabilities: ReadCapabilities
    /** As `manifest`, for callers that run the build. Needs `build: execute`. */
    readonly executable: ReadBuildManifest
    readonly download: (project: string, buildId: string) => Effect.Effect<BuildDownload, Denied | NotFound, Caller>
    /**
     * Activates the build for the project's triggers on every node. Runs in flight finish on their own build. Needs
     * `build: execute`. `BadRequest`, without changes, if the build cannot be loaded, if its metadata is invalid, or if
     * another project has one of its endpoints.
     */
    readonly deploy: Deploy
    /** Lifts the quarantine of the build on every node, if there is one. Needs `build: execute`. */
    readonly release: Release
    /** As `release`, for the host: checks no permission. */
    readonly releaseForHost: ReleaseForHost
    /** Lists the event handlers of the deployed build by `ns`, then `var`. Empty if no build is deployed. */
    readonly handlers: (
      project: string,
      page: PageRequest
    ) => Effect.Effect<Page<WithBuildId<EventHandler>>, Denied | NotFound, Caller>
    /** Lists the schedules of the deployed build by `ns`, then `var`. Empty if no build is deployed. */
    readonly schedules: (
      project: string,
      page: PageRequest
    ) => Effect.Effect<Page<WithBuildId<ScheduleEntry>>, Denied | NotFound, Caller>
  }
>()("@weft/core/resources/builds/Builds") {
  static readonly layer: Layer.Layer<
    Builds,
    never,
    | BlobStore
    | BuildStore
    | BuildZips
    | CanaryStore
    | ClusterBus
    | Deployments
    | FileStore
    | PreparationQueue
    | Quarantines
    | ProjectStore
    | Sandbox
    | Digest.Digest
    | SecureRandom.SecureRandom
  > = Layer.effect(
    Builds,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const zips = yield* BuildZips
      const projects = yield* ProjectStore

      const readProject = (idOrName: string) =>
        Effect.map(resolveProject(projects, idOrName, "build", "read"), ({ project }) => project)

      const get = Effect.fnUntraced(function* (idOrName: string, buildId: string) {
        const project = yield* readProject(idOrName)
        return yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id)
      })

      const deployment = Effect.fnUntraced(function* (idOrName: string) {
        const project = yield* readProject(idOrName)
        return yield* Effect.catchTag(store.deployed(project.env_id, project.project_id), "NotFound", () =>
          Effect.succeed(null)
        )
      })

      const listDeclared = <A extends FunctionRef>(pick: (deployment: Deployment) => ReadonlyArray<A>) =>
        Effect.fnUntraced(function* (idOrName: string, page: PageRequest) {
          const found = yield* deployment(idOrName)
          return found === null ? { items: [], total: 0 } : paginate(pick(found), found.build.build_id, page)
        })

      return Builds.of({
        upload: yield* makeUpload,

        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requirePermission("build", [], "read")
          const only = readable(caller.permissions, "build", "read")
          return yield* store.list(caller.env_id, page, only === "all" ? {} : { only })
        }),

        listOf: Effect.fnUntraced(function* (idOrName, page) {
          const { env_id, project_id } = yield* readProject(idOrName)
          return yield* store.list(env_id, page, { projectId: project_id })
        }),

        get,

        deployed: Effect.fnUntraced(function* (idOrName) {
          const found = yield* deployment(idOrName)
          return found === null ? yield* noDeployedBuild : found.build
        }),

        download: Effect.fnUntraced(function* (idOrName, buildId) {
          const build = yield* get(idOrName, buildId)
          return { build, read: (range) => zips.read(build, range) }
        }),

        ...(yield* makeReadBuildManifest),
        ...(yield* makeLiveBuilds),
        deploy: yield* makeDeploy,
        release: yield* makeRelease,
        releaseForHost: yield* makeReleaseForHost,
        handlers: listDeclared(({ manifest }) => manifest.handlers),
        schedules: listDeclared(({ manifest }) => manifest.schedules)
      })
    })
  )
}

const noDeployedBuild = new NotFound({ resource: "deployed build" })

const paginate = <A extends FunctionRef>(entries: ReadonlyArray<A>, build_id: BuildId, page: PageRequest) => ({
  items: [...entries]
    .sort(byFunction)
    .slice(page.offset, page.offset + page.limit)
    .map((entry) => ({ ...entry, build_id })),
  total: entries.length
})

/** Compares by `ns`, then `var`, in byte order as the databases do. */
const byFunction = (a: FunctionRef, b: FunctionRef): number =>
  Bytes.Order(utf8Encode(a.ns), utf8Encode(b.ns)) || Bytes.Order(utf8Encode(a.var), utf8Encode(b.var))
