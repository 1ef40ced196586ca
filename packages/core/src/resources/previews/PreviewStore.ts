/** Storage of previews, and of the environment and the project that each of them has. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Env } from "../../tenants/orgs/Tenant.ts"
import type { Project } from "../projects/Project.ts"
import type { Preview } from "./Preview.ts"

/** A new preview with its environment and project. */
export interface PreviewParts {
  readonly preview: Preview
  readonly env: Env
  readonly project: Project
}

/** Maximum previews; -1 for unlimited. */
export interface PreviewLimits {
  readonly ofEnv: number
  readonly ofProject: number
}

/** `NameTaken`: the parent environment has a preview of that name. */
type PreviewInsertion = "Stored" | "NameTaken" | "OverEnvLimit" | "OverProjectLimit"

/**
 * `More`: call again. `Waiting`: what remains is deleted elsewhere: runs, files, uploads, or the project. `Empty`: nothing
 * of the environment remains.
 */
type PreviewPurge = "More" | "Waiting" | "Empty"

export class PreviewStore extends Context.Service<
  PreviewStore,
  {
    /** Stores the preview, its environment and its project in one transaction, or nothing. */
    readonly insert: (parts: PreviewParts, limits: PreviewLimits) => Effect.Effect<PreviewInsertion, StoreUnavailable>
    /** Returns a preview that is not removed, by its name. */
    readonly get: (parentEnvId: EnvId, name: string) => Effect.Effect<Preview, NotFound | StoreUnavailable>
    /** Lists previews that are not removed, newest first, of one project. */
    readonly list: (
      parentEnvId: EnvId,
      projectId: ProjectId,
      page: PageRequest
    ) => Effect.Effect<Page<Preview>, StoreUnavailable>
    /**
     * Replaces `build_id`, `schedules`, `copy_events`, `secrets`, `updated_at` and `expires_at` of a preview that is not removed, and
     * `secrets` of its environment.
     */
    readonly update: (preview: Preview) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Marks the preview as removed: it is no longer found, its environment is inactive, and its name is free. It is due
     * again at `dueAt`. `NotFound` if it was removed before.
     */
    readonly remove: (
      preview: Pick<Preview, "env_id" | "parent_env_id" | "name">,
      at: Timestamp,
      dueAt: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Lists due previews of all environments, expired or removed ones, the longest due first. */
    readonly due: (
      which: "expired" | "removed",
      now: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Preview>, StoreUnavailable>
    /** Makes a removed preview due again later. */
    readonly postpone: (envId: EnvId, dueAt: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /**
     * Deletes at most `limit` rows of each kind that the environment of a removed preview has, except runs and files. Lets
     * its uploads expire at `now`. Deletes nothing before its projects are removed and swept.
     */
    readonly purge: (envId: EnvId, now: Timestamp, limit: number) => Effect.Effect<PreviewPurge, StoreUnavailable>
    /**
     * Deletes a removed preview and its environment. Adds the counts of its runs of this month to those of the parent
     * project, so that they still count for the plan.
     */
    readonly forget: (preview: Preview) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/resources/previews/PreviewStore") {}
