/** Seam for operations on many runs, and for the runs that they select. `RunControlStore.advance` stores their effects. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, OperationId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { OperationFilter, OperationKind, OperationRef, OperationState, StoredOperation } from "./Operation.ts"
import type { Run } from "./Run.ts"

/** Selects runs of an environment up to `last_run_id`. */
export interface OperationSelection extends Pick<StoredOperation, "env_id" | "functions" | "last_run_id"> {
  readonly filter: OperationFilter
  /** Of a redrive, only dead letters are selected, and `filter.since` is the time since when they are dead. */
  readonly kind?: OperationKind
}

/** Conditions of a list. Absent fields match all operations. */
export interface ListedOperations {
  readonly state?: OperationState
  readonly created_by?: string
}

/** The fields of a selected run that operations need. */
export interface OperationTarget
  extends Pick<Run, "env_id" | "run_id" | "project_id" | "build_id" | "ns" | "var" | "event_id" | "activations"> {
  /** True if its delivery has a later attempt, or is pending again. */
  readonly is_retried: boolean
  /** Bytes of the data of its event. */
  readonly event_bytes: number
}

export class OperationStore extends Context.Service<
  OperationStore,
  {
    /** Stores a new operation and returns it. With an idempotency key that the environment has used, returns that operation. */
    readonly insert: (
      operation: StoredOperation,
      key: string | null
    ) => Effect.Effect<StoredOperation, StoreUnavailable>
    readonly get: (envId: EnvId, id: OperationId) => Effect.Effect<StoredOperation, NotFound | StoreUnavailable>
    /** Lists operations, newest first. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      listed: ListedOperations
    ) => Effect.Effect<Page<StoredOperation>, StoreUnavailable>
    /** Returns the number of operations of the environment that have not ended. */
    readonly countOpen: (envId: EnvId) => Effect.Effect<number, StoreUnavailable>
    /**
     * Ends an operation as `cancelled`. From then on no node stores an effect of it. Returns false if it has ended. Fails with
     * `NotFound` if it is not stored.
     */
    readonly cancel: (operation: OperationRef, at: Timestamp) => Effect.Effect<boolean, NotFound | StoreUnavailable>
    /**
     * Takes an operation that no node holds, with a lease until `until`: of each environment only the oldest that has not
     * ended. Returns it with a new fence; null without such an operation.
     */
    readonly acquire: (now: Timestamp, until: Timestamp) => Effect.Effect<StoredOperation | null, StoreUnavailable>
    /** Ends the lease of an operation that the fence still holds, so that another node can take it at once. */
    readonly release: (
      operation: Pick<StoredOperation, "env_id" | "operation_id" | "fence">
    ) => Effect.Effect<void, StoreUnavailable>
    /** Counts the selected runs. */
    readonly count: (selection: OperationSelection) => Effect.Effect<number, StoreUnavailable>
    /** Lists the selected runs after `after`, at most `limit`, in the order of their ids. */
    readonly targets: (
      selection: OperationSelection,
      after: RunId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OperationTarget>, StoreUnavailable>
    /** Returns the number of deliveries of the environment that are due, at most `limit`. */
    readonly countDue: (envId: EnvId, now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Removes at most `limit` operations that ended before `before`. Returns their number. */
    readonly forget: (before: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/OperationStore") {}
