/** Seam for pauses, and for the deliveries that they hold. The journal's claim holds them. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { DeliveryId, EnvId, PauseId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Pause } from "./Pause.ts"

export interface ReleaseResult {
  /** Number of deliveries that are due again. */
  readonly released: number
  /** The last examined delivery; null if no held delivery follows. */
  readonly next: DeliveryId | null
}

/** Recorded runs that a pause covers and that have not ended. */
export interface PausedRuns {
  /** Number of runs that execute. */
  readonly executing: number
  /** Number of suspended durable runs. */
  readonly suspended: number
}

export class PauseStore extends Context.Service<
  PauseStore,
  {
    /**
     * Stores a pause and returns it. If its target is paused already, changes `schedules` and `changed_at` of that pause
     * and returns it.
     */
    readonly pause: (pause: Pause) => Effect.Effect<Pause, StoreUnavailable>
    /**
     * Ends an active pause of the environment and returns it. Ticks of schedules that were postponed are due at `at`. Waits
     * for claims that are holding deliveries for the pause; none does so afterwards.
     */
    readonly resume: (envId: EnvId, id: PauseId, at: Timestamp) => Effect.Effect<Pause, NotFound | StoreUnavailable>
    /** Returns the active pauses of an environment, newest first. */
    readonly active: (envId: EnvId) => Effect.Effect<ReadonlyArray<Pause>, StoreUnavailable>
    /** Counts the runs of the functions of a pause that have not ended. */
    readonly countRuns: (pause: Pause) => Effect.Effect<PausedRuns, StoreUnavailable>
    /** Returns all pauses of all environments: active ones, and those whose deliveries are being released. */
    readonly all: Effect.Effect<ReadonlyArray<Pause>, StoreUnavailable>
    /**
     * Examines at most `limit` held deliveries of the environment, by id after `after`. Those that no active pause covers are
     * due at `now`.
     */
    readonly release: (
      envId: EnvId,
      after: DeliveryId | null,
      limit: number,
      now: Timestamp
    ) => Effect.Effect<ReleaseResult, StoreUnavailable>
    /** Removes a pause that has ended. */
    readonly forget: (envId: EnvId, id: PauseId) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/PauseStore") {}
