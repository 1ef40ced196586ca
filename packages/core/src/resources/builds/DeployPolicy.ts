/** The host's decision about deployments, by the capabilities of the build. */
import { Context, Effect } from "effect"
import { DeploymentRefused, type NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { Build } from "./Build.ts"
import { type BuildCapabilities, noCapabilities, toCapabilities, withoutCapabilities } from "./BuildCapabilities.ts"
import { BuildStore } from "./BuildStore.ts"
import type { Manifest } from "./Manifest.ts"

/** A build that is about to become active, as a deployed or live build or as a canary. */
export interface DeployRequest {
  readonly env_id: string
  readonly project_id: string
  readonly project_name: string
  readonly build_id: string
  readonly capabilities: BuildCapabilities
  /** Capabilities that the deployed build lacks. */
  readonly added: BuildCapabilities
  /** Capabilities of the deployed build that this one lacks. */
  readonly removed: BuildCapabilities
  /** True if no build of the project is deployed; `added` then has all capabilities. */
  readonly isFirst: boolean
}

/** Returns the reason for a refusal, which the client receives; undefined to allow the deployment. */
export type DeployPolicy = (request: DeployRequest) => string | undefined | Promise<string | undefined>

/** By default, every deployment is allowed. */
export const CurrentDeployPolicy = Context.Reference<DeployPolicy | null>(
  "@weft/core/resources/builds/DeployPolicy/CurrentDeployPolicy",
  { defaultValue: () => null }
)

/** Returns a function that fails if the host refuses the build. An error of the policy is a defect: nothing is deployed. */
export const makeCheckPolicy = Effect.gen(function* () {
  const policy = yield* CurrentDeployPolicy
  const store = yield* BuildStore

  return Effect.fnUntraced(function* (
    build: Build,
    manifest: Manifest
  ): Effect.fn.Return<void, DeploymentRefused | StoreUnavailable> {
    if (policy === null) return
    const { env_id, project_id, project_name, build_id } = build
    const deployed = yield* orNull(store.deployed(env_id, project_id))
    const capabilities = toCapabilities(manifest)
    const former = deployed === null ? noCapabilities : toCapabilities(deployed.manifest)
    const request: DeployRequest = {
      ...{ env_id, project_id, project_name, build_id, capabilities },
      added: withoutCapabilities(capabilities, former),
      removed: withoutCapabilities(former, capabilities),
      isFirst: deployed === null
    }
    const reason = yield* Effect.promise(async () => policy(request))
    if (reason !== undefined) return yield* new DeploymentRefused({ reason })
  })
})

const orNull = <A>(found: Effect.Effect<A, NotFound | StoreUnavailable>) =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))
