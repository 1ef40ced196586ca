/** Builds of the caller's environment. Permission first, then the rules, then the stores. */
import { Bytes, Context, Effect, Layer, type Scope, type Stream } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { readable } from "../access/Permission.ts"
import { BlobStore, type ByteRange } from "../blobs/BlobStore.ts"
import { type Forbidden, NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import type { FileStore } from "../files/FileStore.ts"
import type { BuildId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import { namedProject } from "../projects/NamedProject.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import type { FunctionRef, Sandbox } from "../sandbox/Sandbox.ts"
import type { Build } from "./Build.ts"
import { BuildStore, type Deployment } from "./BuildStore.ts"
import { type Deploy, inStore, makeDeploy, toBuildId } from "./Deploy.ts"
import type { Deployments } from "./Deployments.ts"
import { type LiveBuilds, makeLiveBuilds } from "./LiveBuilds.ts"
import type { EventHandler, ScheduleEntry } from "./Manifest.ts"
import { makeUpload, type Upload } from "./Upload.ts"

/** What a build declares, told with the build. */
export type OfBuild<A> = A & { readonly build_id: BuildId }

type Denied = Forbidden | StoreUnavailable

export interface BuildDownload {
  readonly build: Build
  /** Its bytes, or those of a range, as fast as they are taken. */
  readonly read: (
    range?: ByteRange
  ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, StoreUnavailable, Scope.Scope>
}

export class Builds extends Context.Service<
  Builds,
  {
    /**
     * Needs `build: create`, or for a live build, which serves at once as a deployed one does, `build: execute`.
     * `BadRequest` says what is wrong with the hash, the id or the zip, and of a live build what `deploy` refuses;
     * nothing is kept then.
     */
    readonly upload: Upload
    /** Of all projects whose builds the caller may read; newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Build>, Denied, Caller>
    /** Of one project, newest first. */
    readonly listOf: (project: string, page: PageRequest) => Effect.Effect<Page<Build>, Denied | NotFound, Caller>
    readonly get: (project: string, buildId: string) => Effect.Effect<Build, Denied | NotFound, Caller>
    readonly deployed: (project: string) => Effect.Effect<Build, Denied | NotFound, Caller>
    /** The build that serves instead of the deployed one. */
    readonly live: LiveBuilds["live"]
    /** Lets the deployed build serve again, on every node. Needs `build: execute`. */
    readonly endLive: LiveBuilds["endLive"]
    readonly download: (project: string, buildId: string) => Effect.Effect<BuildDownload, Denied | NotFound, Caller>
    /**
     * Makes the build the one that serves the project's triggers, on every node; runs in flight finish on their
     * own build. Needs `build: execute`. `BadRequest` when the build cannot be loaded, its metadata is wrong or
     * another project has one of its endpoints; nothing changes then.
     */
    readonly deploy: Deploy
    /** Of the deployed build, by ns, then var; none without one. */
    readonly handlers: (
      project: string,
      page: PageRequest
    ) => Effect.Effect<Page<OfBuild<EventHandler>>, Denied | NotFound, Caller>
    /** Of the deployed build, by ns, then var; none without one. */
    readonly schedules: (
      project: string,
      page: PageRequest
    ) => Effect.Effect<Page<OfBuild<ScheduleEntry>>, Denied | NotFound, Caller>
  }
>()("@weft/core/builds/Builds") {
  static readonly layer: Layer.Layer<
    Builds,
    never,
    | BlobStore
    | BuildStore
    | Deployments
    | FileStore
    | ProjectStore
    | Sandbox
    | Digest.Digest
    | SecureRandom.SecureRandom
  > = Layer.effect(
    Builds,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const blobs = yield* BlobStore
      const projects = yield* ProjectStore

      const readProject = (idOrName: string) =>
        Effect.map(namedProject(projects, idOrName, "build", "read"), ({ project }) => project)

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

      const declared = <A extends FunctionRef>(pick: (deployment: Deployment) => ReadonlyArray<A>) =>
        Effect.fnUntraced(function* (idOrName: string, page: PageRequest) {
          const found = yield* deployment(idOrName)
          return found === null ? { items: [], total: 0 } : pageOf(pick(found), found.build.build_id, page)
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
          return { build, read: (range) => inStore(blobs.read(build.storage_path, range), build) }
        }),

        ...(yield* makeLiveBuilds),
        deploy: yield* makeDeploy,
        handlers: declared(({ manifest }) => manifest.handlers),
        schedules: declared(({ manifest }) => manifest.schedules)
      })
    })
  )
}

const noDeployedBuild = new NotFound({ resource: "deployed build" })

const pageOf = <A extends FunctionRef>(entries: ReadonlyArray<A>, build_id: BuildId, page: PageRequest) => ({
  items: [...entries]
    .sort(byFunction)
    .slice(page.offset, page.offset + page.limit)
    .map((entry) => ({ ...entry, build_id })),
  total: entries.length
})

/** By ns, then var, as bytes, like the databases sort text. */
const byFunction = (a: FunctionRef, b: FunctionRef): number =>
  Bytes.Order(utf8Encode(a.ns), utf8Encode(b.ns)) || Bytes.Order(utf8Encode(a.var), utf8Encode(b.var))
