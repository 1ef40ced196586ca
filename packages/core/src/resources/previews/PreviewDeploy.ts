/**
 * Deploys a build of a project to a preview, and creates the preview if it does not exist.
 *
 * The preview gets a copy of the build. Everything that can reject the build comes before the first change.
 */
import { Effect, Result } from "effect"
import {
  BadRequest,
  type ContentDamaged,
  type DeploymentRefused,
  type Forbidden,
  type NotFound,
  PlanRequired,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { BuildId, EnvId, freshIds, ProjectId } from "../../foundation/Ids.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { Sandbox, type SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { type EnvPlan, Plans } from "../../tenants/orgs/Plans.ts"
import { Env } from "../../tenants/orgs/Tenant.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { artifactKey } from "../builds/Artifacts.ts"
import { Build } from "../builds/Build.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import { BuildZips } from "../builds/BuildZips.ts"
import { toBuildId } from "../builds/Deploy.ts"
import { Deployments } from "../builds/Deployments.ts"
import { makeCheckPolicy } from "../builds/DeployPolicy.ts"
import type { Manifest } from "../builds/Manifest.ts"
import { makePrepare } from "../builds/Preparation.ts"
import { PreparationQueue } from "../builds/PreparationQueue.ts"
import { FileStore } from "../files/FileStore.ts"
import { Project } from "../projects/Project.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import { type NewPreview, type Preview, previewEnvName, readPreviewName, readTtl } from "./Preview.ts"
import { makePreviewEnd } from "./PreviewEnd.ts"
import { type PreviewParts, PreviewStore } from "./PreviewStore.ts"

/** Maximum previews of a project, whatever the plan allows. */
const previewsOfProjectMax = 50

/** Maximum time between the reservation of the bytes and the store of the build, in milliseconds. */
const reservationMs = 600_000

export type PreviewDeployError =
  | Forbidden
  | NotFound
  | BadRequest
  | PlanRequired
  | DeploymentRefused
  | ContentDamaged
  | SandboxUnavailable
  | StoreUnavailable

export type PreviewDeploy = (
  project: string,
  name: string,
  input: NewPreview
) => Effect.Effect<Preview, PreviewDeployError, Caller>

/** A build that can be deployed, with its bytes. */
interface Prepared {
  readonly build: Build
  readonly zip: Uint8Array
  readonly manifest: Manifest
  readonly artifact: Uint8Array
}

export const makePreviewDeploy = Effect.gen(function* () {
  const store = yield* PreviewStore
  const projects = yield* ProjectStore
  const builds = yield* BuildStore
  const zips = yield* BuildZips
  const plans = yield* Plans
  const prepare = yield* makePrepare
  const queue = yield* PreparationQueue
  const checkPolicy = yield* makeCheckPolicy
  const tenants = yield* Tenants
  const { end } = yield* makePreviewEnd
  const activate = yield* makeActivate
  const freshId = yield* freshIds

  /** Reads the build and checks it against the policy of the host, which compares it with the deployed build. */
  const prepareBuild = Effect.fnUntraced(function* ({ env_id, project_id }: Project, buildId: string) {
    const build = yield* builds.get(env_id, yield* toBuildId(buildId), project_id)
    const prepared = yield* queue.withTurn(env_id)(
      Effect.gen(function* () {
        const zip = yield* zips.get(build)
        return { build, zip, ...(yield* prepare(zip)) } satisfies Prepared
      })
    )
    yield* checkPolicy(build, prepared.manifest)
    return prepared
  })

  /** Returns the preview of that name, or null. Fails if it is one of another project. */
  const find = Effect.fnUntraced(function* ({ env_id, project_id }: Project, name: string) {
    const found = yield* orNull(store.get(env_id, name))
    return found === null || found.project_id === project_id ? found : yield* nameTaken(name)
  })

  const makeParts = Effect.fnUntraced(function* (project: Project, { env: parent }: EnvPlan, settings: Settings) {
    const { name, secrets, at } = settings
    const env_id = yield* freshId(EnvId)
    const project_id = yield* freshId(ProjectId)
    const preview: Preview = {
      ...{ env_id, parent_env_id: parent.env_id, project_id: project.project_id },
      ...{ copy_project_id: project_id, created_at: at },
      ...toChange(settings),
      name
    }
    const ofEnv = { name, parent_env_id: parent.env_id, parent_project_id: project.project_id, project_id, secrets }
    return {
      preview,
      env: new Env({
        ...{ env_id, org_id: parent.org_id, name: previewEnvName(parent.name, name), active: true },
        ...{ created_at: at, preview: ofEnv }
      }),
      project: new Project({ ...project, project_id, env_id, created_at: at, updated_at: at })
    } satisfies PreviewParts
  })

  /** Stores a new preview. Returns the one of a concurrent request if that was first. */
  const insert = Effect.fnUntraced(function* (project: Project, plan: EnvPlan, settings: Settings) {
    const parts = yield* makeParts(project, plan, settings)
    const limits = { ofEnv: plan.plan.max_previews, ofProject: previewsOfProjectMax }
    const insertion = yield* store.insert(parts, limits)
    if (insertion === "OverEnvLimit") return yield* overPlan(limits.ofEnv)
    if (insertion === "OverProjectLimit") return yield* overProject
    if (insertion === "Stored") return { preview: parts.preview, isNew: true }
    const other = yield* find(project, settings.name)
    return other === null ? yield* nameTaken(settings.name) : { preview: other, isNew: false }
  })

  return Effect.fnUntraced(function* (idOrName, name, input) {
    const { project } = yield* resolveProject(projects, idOrName, "build", "execute", checkInput(name, input))
    // The environment of a credential always exists.
    const plan = yield* Effect.catchTag(plans.of(project.env_id), "NotFound", Effect.die)
    if (plan.env.preview !== undefined) return yield* nested
    const prepared = yield* prepareBuild(project, input.build_id)
    const at = yield* now
    const ttl = Result.getOrThrow(readTtl(input.ttl))
    const settings: Settings = {
      ...{ name, build_id: prepared.build.build_id, at, expires_at: addMillis(at, ttl) },
      ...{ schedules: input.schedules ?? false, copy_events: input.copy_events ?? false },
      secrets: input.secrets ?? "project"
    }
    const known = yield* find(project, name)
    const { preview, isNew } =
      known === null ? yield* insert(project, plan, settings) : { preview: known, isNew: false }
    const deployed = { ...preview, ...toChange(settings) }
    yield* activate(deployed, project.name, prepared).pipe(
      Effect.andThen(isNew ? Effect.void : store.update(deployed)),
      Effect.onError(() => (isNew ? Effect.ignore(end(preview), { log: "Warn" }) : Effect.void))
    )
    yield* tenants.changed
    return deployed
  }) satisfies PreviewDeploy
})

/** Checked settings of a deployment. */
interface Settings extends Pick<Preview, "name" | "build_id" | "schedules" | "copy_events" | "secrets" | "expires_at"> {
  readonly at: Preview["updated_at"]
}

const toChange = ({ build_id, schedules, copy_events, secrets, expires_at, at }: Settings) => ({
  ...{ build_id, schedules, copy_events, secrets, expires_at },
  updated_at: at
})

/** Returns a function that copies a build into the project of a preview, and activates the copy there. */
const makeActivate = Effect.gen(function* () {
  const projects = yield* ProjectStore
  const builds = yield* BuildStore
  const blobs = yield* BlobStore
  const files = yield* FileStore
  const sandbox = yield* Sandbox
  const deployments = yield* Deployments
  const freshId = yield* freshIds

  /** Returns the deployed copy if it has the same code; otherwise stores another copy. */
  const copy = Effect.fnUntraced(function* ({ env_id, project_id, name }: Project, { build, zip }: Prepared) {
    const deployed = yield* orNull(builds.deployed(env_id, project_id))
    if (deployed?.build.hash === build.hash) return deployed.build
    const build_id = yield* freshId(BuildId)
    const at = yield* now
    const copied = new Build({
      ...build,
      ...{ build_id, project_id, project_name: name, env_id, build_type: "bundle", deployed: false },
      ...{ created_at: at, updated_at: at },
      ...{ storage_path: `builds/${env_id}/${project_id}/${build_id}.zip`, storage_backend: blobs.backend }
    })
    yield* files.reserve(copied.storage_path, addMillis(at, reservationMs))
    yield* blobs.put(copied.storage_path, zip)
    // The id is new.
    yield* Effect.catchTag(builds.insert(copied), "Taken", Effect.die)
    return copied
  })

  return Effect.fnUntraced(function* (preview: Preview, parentName: string, prepared: Prepared) {
    const project = yield* orNull(projects.get(preview.env_id, preview.copy_project_id))
    if (project === null) return yield* removedMeanwhile
    const at = yield* now
    if (project.name !== parentName) {
      const renamed = projects.update(new Project({ ...project, name: parentName, updated_at: at }))
      yield* Effect.catchTag(renamed, "Taken", Effect.die)
    }
    const copied = yield* copy(project, prepared)
    const { artifact } = prepared
    yield* blobs.put(artifactKey(copied), artifact)
    const manifest = preview.schedules ? prepared.manifest : { ...prepared.manifest, schedules: [] }
    // No other project of the preview has endpoints, unless the host added one.
    const deployed = Effect.catchTag(builds.deploy(copied, manifest, at), "Taken", ({ what }) =>
      Effect.fail(new BadRequest({ reason: `Another project of the preview has the endpoint ${what}` }))
    )
    yield* Effect.uninterruptible(Effect.andThen(deployed, deployments.changed(preview.env_id)))
    yield* sandbox.warm({ env_id: copied.env_id, build_id: copied.build_id, artifact })
  })
})

const checkInput = (name: string, { ttl }: NewPreview): Effect.Effect<void, BadRequest> =>
  Result.match(
    Result.flatMap(readPreviewName(name), () => readTtl(ttl)),
    {
      onSuccess: () => Effect.void,
      onFailure: (reason) => Effect.fail(new BadRequest({ reason }))
    }
  )

const orNull = <A>(found: Effect.Effect<A, NotFound | StoreUnavailable>) =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))

const nested = new BadRequest({ reason: "A preview cannot have previews: use the environment of its project" })

const removedMeanwhile = new BadRequest({ reason: "The preview was removed meanwhile: deploy again" })

const nameTaken = (name: string) =>
  Effect.fail(new BadRequest({ reason: `name: another project has the preview ${name}: use another name` }))

const overPlan = (limit: number) =>
  Effect.fail(
    new PlanRequired({
      reason: `The plan allows ${limit} previews of an environment (max_previews): remove some, or use a larger plan`
    })
  )

const overProject = Effect.fail(
  new BadRequest({ reason: `A project may have ${previewsOfProjectMax} previews: remove some` })
)
