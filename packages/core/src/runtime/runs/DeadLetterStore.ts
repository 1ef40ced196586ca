/**
 * Seam for dead letters: deliveries whose last attempt failed, or that expired before their start.
 *
 * A dead letter is the run of the last attempt, with the time of its end as a mark. The journal sets the mark. Redriving or
 * discarding removes it, and retention removes it with the run.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, RunId } from "../../foundation/Ids.ts"
import type { PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Delivery } from "./Delivery.ts"
import type { Run } from "./Run.ts"

/** A dead letter, as far as a redrive needs it. */
export interface DeadLetterRef
  extends Pick<
    Run,
    | "env_id"
    | "run_id"
    | "event_id"
    | "event_ids"
    | "project_id"
    | "project_name"
    | "build_id"
    | "ns"
    | "var"
    | "run_type"
    | "activations"
  > {
  readonly dead_since: Timestamp
}

export interface DeadLetter
  extends DeadLetterRef,
    Pick<Run, "stream_id" | "status" | "start_time" | "attempt" | "result"> {
  readonly event_type: string
}

/** Position of a dead letter in the order of the times since when they are dead. */
export type DeadLetterPosition = Pick<DeadLetterRef, "dead_since" | "run_id">

/** Selects dead letters of an environment. Each field restricts the selection. */
export interface DeadLetterFilter {
  /** Only of projects with one of these ids, or names at that time. */
  readonly only?: ReadonlyArray<string>
  /** Id of the project, or its name at that time. */
  readonly project?: string
  /** Lists of function names: `ns/var`, or `project:ns/var`. Only of a function in every list. */
  readonly functions?: ReadonlyArray<ReadonlyArray<string>>
  readonly eventType?: string
  /** Only letters that are dead since this instant or later. */
  readonly since?: Timestamp
  /** Only letters that are dead since before this instant. */
  readonly until?: Timestamp
  /** Only these runs. */
  readonly runIds?: ReadonlyArray<RunId>
}

/** A dead letter, and the delivery that starts it again. */
export interface Redrive {
  readonly runId: RunId
  readonly delivery: Delivery
}

/** Maximum bytes of a result that a list returns. */
export const listedResultMax = 16_384

export class DeadLetterStore extends Context.Service<
  DeadLetterStore,
  {
    /** Lists dead letters, the latest first. Results above `listedResultMax` bytes are null. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: DeadLetterFilter
    ) => Effect.Effect<ReadonlyArray<DeadLetter>, StoreUnavailable>
    /** Returns the number of dead letters, at most `limit`. */
    readonly count: (envId: EnvId, filter: DeadLetterFilter, limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Returns at most `limit` dead letters behind a position, the oldest first. */
    readonly after: (
      envId: EnvId,
      filter: DeadLetterFilter,
      position: DeadLetterPosition | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DeadLetterRef>, StoreUnavailable>
    /**
     * Removes the marks and adds the deliveries as pending, in one transaction. Returns the runs whose marks it removed. A
     * run without a mark is skipped with its delivery, so that concurrent redrives start a letter once.
     */
    readonly redrive: (
      envId: EnvId,
      redrives: ReadonlyArray<Redrive>
    ) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>
    /** Removes the marks. Returns the runs whose marks it removed; the runs stay. */
    readonly discard: (
      envId: EnvId,
      runIds: ReadonlyArray<RunId>
    ) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/DeadLetterStore") {}
