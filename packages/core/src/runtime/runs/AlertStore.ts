/** Seam for alert rules, and for the backlogs that they observe. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { AlertId, EnvId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Alert } from "./Alert.ts"

/** Due deliveries without a run. */
export interface Backlog {
  /** Number of due deliveries, with those that a group, a throttle or a pause holds; at most the limit. */
  readonly deliveries: number
  /** Time since which the oldest of them waits; null without one. */
  readonly oldest: Timestamp | null
}

export class AlertStore extends Context.Service<
  AlertStore,
  {
    readonly insert: (alert: Alert) => Effect.Effect<void, StoreUnavailable>
    readonly get: (envId: EnvId, id: AlertId) => Effect.Effect<Alert, NotFound | StoreUnavailable>
    /** Returns all rules of the environment, newest first. */
    readonly all: (envId: EnvId) => Effect.Effect<ReadonlyArray<Alert>, StoreUnavailable>
    /** Replaces a rule whose `due_at` is `fence`. Returns false, and changes nothing, if it is another or the rule is gone. */
    readonly replace: (alert: Alert, fence: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    readonly remove: (envId: EnvId, id: AlertId) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Takes enabled rules of all environments that are due at `now`, at most `limit`: they are due again at `until`. Two
     * calls never return the same rule for the same due time.
     */
    readonly claim: (
      now: Timestamp,
      until: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Alert>, StoreUnavailable>
    /** Examines at most `limit` due deliveries of the function, the project or the environment. */
    readonly backlog: (
      scope: Pick<Alert, "env_id" | "project_id" | "ns" | "var">,
      now: Timestamp,
      limit: number
    ) => Effect.Effect<Backlog, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/AlertStore") {}
