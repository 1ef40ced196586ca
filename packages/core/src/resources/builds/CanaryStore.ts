/** Storage of canaries: at most one record for each project, that of its latest canary. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable, Taken } from "../../foundation/Errors.ts"
import type { BuildId, CanaryId, EnvId, NodeId, ProjectId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Deployment } from "./BuildStore.ts"
import type { Canary, CanaryState } from "./Canary.ts"
import type { CanaryCounts } from "./CanaryCounts.ts"
import type { Manifest } from "./Manifest.ts"

/** An active canary with its build. */
export interface CanaryDeployment extends Deployment {
  readonly canary: Canary
}

/** A canary that nodes observe, or whose retries they redirect. */
export interface KnownCanary {
  readonly canary: Canary
  /** The deployed build and its functions (`ns/var`), to which retries of a rolled back canary go; null for others. */
  readonly redirect: { readonly build_id: BuildId; readonly functions: ReadonlyArray<string> } | null
}

/** Counts of all nodes. */
export interface CanaryReport {
  readonly counts: CanaryCounts
  /** True if the canary is active, and its base is still the deployed build. */
  readonly isCurrent: boolean
}

export interface CanaryEnd {
  readonly state: Exclude<CanaryState, "active">
  readonly reason: string
  readonly at: Timestamp
}

export class CanaryStore extends Context.Service<
  CanaryStore,
  {
    /**
     * Stores an active canary in place of the project's latest one, in one transaction. The project keeps the endpoints of
     * both builds. Fails without changes. `Taken` ("canary"): another canary is active, unless `replace`. `Taken`
     * ("METHOD /service/path"): as `BuildStore.deploy`. `NotFound`: the base is not the deployed build.
     */
    readonly begin: (
      canary: Canary,
      manifest: Manifest,
      replace: boolean
    ) => Effect.Effect<void, Taken | NotFound | StoreUnavailable>
    /** Returns the latest canary of the project. */
    readonly latest: (envId: EnvId, projectId: ProjectId) => Effect.Effect<Canary, NotFound | StoreUnavailable>
    /**
     * Returns the active canaries of the environment whose base serves the project, in the order of project ids. A live build,
     * or the deployment of another build, leaves a canary out.
     */
    readonly active: (envId: EnvId) => Effect.Effect<ReadonlyArray<CanaryDeployment>, StoreUnavailable>
    /** Returns all active canaries, and those that were rolled back at `since` or later and whose build is not deployed. */
    readonly known: (since: Timestamp) => Effect.Effect<ReadonlyArray<KnownCanary>, StoreUnavailable>
    /** Stores all that a node counted for an active canary, and returns the counts of all nodes. */
    readonly report: (
      canary: Canary,
      nodeId: NodeId,
      counts: CanaryCounts
    ) => Effect.Effect<CanaryReport, StoreUnavailable>
    /** Returns the counts of all nodes. */
    readonly counts: (canary: Canary) => Effect.Effect<CanaryCounts, StoreUnavailable>
    /**
     * Ends an active canary in one transaction, and returns it. Promoted, its build is the deployed one with its schedules;
     * `NotFound` if the base is no longer deployed. Rolled back, its pending deliveries go to the deployed build, as `redirect`
     * does. `NotFound`, without changes, if the canary is not active.
     */
    readonly end: (
      envId: EnvId,
      canaryId: CanaryId,
      end: CanaryEnd
    ) => Effect.Effect<Canary, NotFound | StoreUnavailable>
    /** Moves pending deliveries of a rolled back canary to the deployed build, to the functions of `listRedirected`. */
    readonly redirect: (canary: Canary) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/resources/builds/CanaryStore") {}

/** Returns text that differs after each change of the stored canaries, also if the clocks of nodes differ. */
export const canariesVersion = (canaries: ReadonlyArray<Pick<Canary, "started_at" | "ended_at">>): string =>
  `${canaries.length}:${canaries.reduce((sum, { started_at, ended_at }) => sum + started_at + (ended_at ?? 0), 0)}`
