/** Capabilities of builds for hosts, and the policy of deployments. */
import type {
  ComparedCapabilities,
  BuildCapabilities as CoreCapabilities,
  DeployPolicy as CorePolicy
} from "@weft/core"

/** Names by kind, sorted. `*` stands for names that the code computes. */
export interface BuildCapabilities {
  /** Hosts of requests. */
  readonly hosts: ReadonlyArray<string>
  readonly hostFunctions: ReadonlyArray<string>
  readonly secrets: ReadonlyArray<string>
  /** `read` and `write`. */
  readonly files: ReadonlyArray<string>
  /** Types of published events. */
  readonly publishes: ReadonlyArray<string>
  /** Types of handled events. */
  readonly handles: ReadonlyArray<string>
  readonly schedules: ReadonlyArray<string>
  readonly endpoints: ReadonlyArray<string>
  /** Tools, resources and prompts of models. */
  readonly tools: ReadonlyArray<string>
}

/** A build that is about to become active, as a deployed or live build or as a canary. */
export interface DeployRequest {
  readonly envId: string
  readonly projectId: string
  readonly projectName: string
  readonly buildId: string
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

/** Capabilities of a build, and the difference to the deployed build. */
export interface ComparedBuild {
  readonly buildId: string
  readonly capabilities: BuildCapabilities
  readonly added: BuildCapabilities
  readonly removed: BuildCapabilities
}

export const toPolicy =
  (policy: DeployPolicy): CorePolicy =>
  ({ env_id, project_id, project_name, build_id, capabilities, added, removed, isFirst }) =>
    policy({
      envId: env_id,
      projectId: project_id,
      projectName: project_name,
      buildId: build_id,
      capabilities: toNames(capabilities),
      added: toNames(added),
      removed: toNames(removed),
      isFirst
    })

const toNames = ({ host_functions, ...rest }: CoreCapabilities): BuildCapabilities => ({
  ...rest,
  hostFunctions: host_functions
})

export const toComparedBuild = ({ build_id, capabilities, compared }: ComparedCapabilities): ComparedBuild => ({
  buildId: build_id,
  capabilities: toNames(capabilities),
  added: toNames(compared?.added ?? capabilities),
  removed: toNames(compared?.removed ?? capabilities)
})
