/** Reads what a build declares, also before its first deployment. */
import { Effect } from "effect"
import type { BadRequest, ContentDamaged, Forbidden, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId } from "../../foundation/Ids.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import type { Build } from "./Build.ts"
import { type BuildCapabilities, noCapabilities, toCapabilities, withoutCapabilities } from "./BuildCapabilities.ts"
import { BuildStore, type Deployment } from "./BuildStore.ts"
import { BuildZips } from "./BuildZips.ts"
import { toBuildId } from "./Deploy.ts"
import { makePrepare } from "./Preparation.ts"
import { PreparationQueue } from "./PreparationQueue.ts"

export interface DeclaredBuild extends Deployment {
  /** True if the triggers of the project run this build: the live one, or else the deployed one. */
  readonly isActive: boolean
}

export type ReadBuildManifest = (
  project: string,
  buildId: string
) => Effect.Effect<
  DeclaredBuild,
  Forbidden | NotFound | BadRequest | ContentDamaged | SandboxUnavailable | StoreUnavailable,
  Caller
>

export interface ComparedCapabilities {
  readonly build_id: BuildId
  readonly capabilities: BuildCapabilities
  /** The difference to the deployed build; null if it was not wanted. */
  readonly compared: {
    /** Null if no build is deployed; then all capabilities are added. */
    readonly build_id: BuildId | null
    readonly added: BuildCapabilities
    readonly removed: BuildCapabilities
  } | null
}

export type ReadCapabilities = (
  project: string,
  buildId: string,
  compare?: "deployed"
) => Effect.Effect<
  ComparedCapabilities,
  Forbidden | NotFound | BadRequest | ContentDamaged | SandboxUnavailable | StoreUnavailable,
  Caller
>

/** Returns a function that reads manifests for callers with an action on builds of the project. */
export const makeReadBuildManifest = Effect.gen(function* () {
  const store = yield* BuildStore
  const zips = yield* BuildZips
  const projects = yield* ProjectStore
  const prepare = yield* makePrepare
  const queue = yield* PreparationQueue

  /** Returns the live and the deployed build of the project, the active one first. */
  const listStored = Effect.fnUntraced(function* ({ env_id, project_id }: Build) {
    const stored = [store.live(env_id, project_id), store.deployed(env_id, project_id)]
    return (yield* Effect.all(stored.map(orNull))).filter((deployment) => deployment !== null)
  })

  const readFor = (action: "read" | "execute"): ReadBuildManifest =>
    Effect.fnUntraced(function* (idOrName, buildId) {
      const { project } = yield* resolveProject(projects, idOrName, "build", action)
      const build = yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id)
      const stored = yield* listStored(build)
      const found = stored.find((deployment) => deployment.build.build_id === build.build_id)
      if (found !== undefined) return { ...found, isActive: stored[0] === found }
      const { manifest } = yield* queue.withTurn(build.env_id)(Effect.flatMap(zips.get(build), prepare))
      return { build, manifest, isActive: false }
    })

  const readManifest = readFor("read")

  /** Reads the capabilities of the build. A manifest of an older release lacks the uses of the code. */
  const readCapabilities = Effect.fnUntraced(function* ({ build, manifest }: DeclaredBuild | Deployment) {
    if (manifest.uses !== undefined) return toCapabilities(manifest)
    const prepared = yield* queue.withTurn(build.env_id)(Effect.flatMap(zips.get(build), prepare))
    return toCapabilities(prepared.manifest)
  })

  const capabilities: ReadCapabilities = Effect.fnUntraced(function* (idOrName, buildId, compare) {
    const declared = yield* readManifest(idOrName, buildId)
    const { env_id, project_id, build_id } = declared.build
    const own = yield* readCapabilities(declared)
    if (compare === undefined) return { build_id, capabilities: own, compared: null }
    const deployed = yield* orNull(store.deployed(env_id, project_id))
    const former = deployed === null ? noCapabilities : yield* readCapabilities(deployed)
    return {
      build_id,
      capabilities: own,
      compared: {
        build_id: deployed?.build.build_id ?? null,
        added: withoutCapabilities(own, former),
        removed: withoutCapabilities(former, own)
      }
    }
  })

  return { manifest: readManifest, executable: readFor("execute"), capabilities }
})

const orNull = (found: Effect.Effect<Deployment, NotFound | StoreUnavailable>) =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))
