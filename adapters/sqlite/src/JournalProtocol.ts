/** Messages between the main thread and the journal's thread. All of them are plain data. */
import type { EnvId } from "@weft/core"
import type {
  Admission,
  AdmissionOutcome,
  CancelledRun,
  ClaimRequest,
  Delivery,
  DeliveryPosition,
  DeliverySelection,
  DiscardResult,
  EarlierRequest,
  Event,
  Fork,
  Group,
  LocalRunSet,
  NodeId,
  OperationProgress,
  OperationStep,
  PendingWork,
  PurgedFunction,
  Renewal,
  Run,
  RunCountBatch,
  RunId,
  RunLog,
  RunRef,
  RunSelection,
  RunStatus,
  ScheduleId,
  Tick,
  Timestamp
} from "@weft/core/adapter"
import type { Arrival, Rows } from "@weft/sql"
import type { PackedClaims } from "./PackedClaims.ts"
import type { ConnectionOptions } from "./SqliteClient.ts"

/** Configuration of the thread. */
export interface JournalThreadData extends ConnectionOptions {
  /** Memory of the shared `WriteLock`. */
  readonly lock: SharedArrayBuffer
}

export type Call =
  /** Entries in the form of `toRows`. One process owns the file, so there are no leases. */
  | { readonly _tag: "Commit"; readonly rows: Rows }
  | { readonly _tag: "Count"; readonly batch: RunCountBatch }
  | { readonly _tag: "Claim"; readonly request: ClaimRequest }
  | {
      readonly _tag: "Reap"
      readonly nodeId: NodeId
      readonly now: Timestamp
      readonly limit: number
      readonly own: LocalRunSet | undefined
    }
  | { readonly _tag: "Look"; readonly nodeId: NodeId; readonly now: Timestamp }
  | {
      readonly _tag: "Purge"
      readonly envId: EnvId
      readonly before: RunId
      readonly limit: number
      readonly of: PurgedFunction | undefined
    }
  | { readonly _tag: "Unpark"; readonly groups: ReadonlyArray<Group>; readonly now: Timestamp }
  | { readonly _tag: "Parked"; readonly after: Group | null; readonly limit: number }
  | { readonly _tag: "Admit"; readonly admission: Admission }
  | { readonly _tag: "Earlier"; readonly envId: EnvId; readonly key: string; readonly now: Timestamp }
  | { readonly _tag: "Forget"; readonly now: Timestamp; readonly limit: number }
  | {
      readonly _tag: "Cancel"
      readonly envId: EnvId
      readonly which: RunSelection
      readonly at: Timestamp
      readonly limit: number
    }
  | { readonly _tag: "RequestCleanup"; readonly run: RunRef; readonly until: Timestamp; readonly at: Timestamp }
  | {
      readonly _tag: "Discard"
      readonly envId: EnvId
      readonly which: DeliverySelection
      readonly after: DeliveryPosition | null
      readonly limit: number
    }
  | { readonly _tag: "Log"; readonly logs: ReadonlyArray<RunLog> }
  | { readonly _tag: "FindEnded"; readonly runs: ReadonlyArray<RunRef> }
  | { readonly _tag: "Redeliver"; readonly delivery: Delivery; readonly event: Event | undefined }
  | { readonly _tag: "Renew"; readonly renewal: Renewal }
  | { readonly _tag: "Fork"; readonly fork: Fork }
  | { readonly _tag: "Advance"; readonly step: OperationStep }
  | { readonly _tag: "Arrive"; readonly arrival: Arrival }
  | { readonly _tag: "Fire"; readonly ticks: ReadonlyArray<Tick> }

/** A message to the journal's thread. The answer to a call has the same `id`; ids are not reused. */
export type Request =
  /** Opens the database. Always the first request, and only once. */
  | { readonly _tag: "Open"; readonly data: JournalThreadData }
  | { readonly _tag: "Call"; readonly id: number; readonly call: Call }
  /** Closes the database and ends the thread. */
  | { readonly _tag: "Close" }

export type Answer =
  /** Indexes of entries without effect, ascending. */
  | { readonly _tag: "Committed"; readonly uncounted: ReadonlyArray<number> }
  | { readonly _tag: "Claimed"; readonly result: PackedClaims }
  | { readonly _tag: "Reaped"; readonly runs: ReadonlyArray<Run> }
  | { readonly _tag: "Seen"; readonly pending: PendingWork }
  /** The number of rows that were purged, unparked or deleted. */
  | { readonly _tag: "Counted"; readonly count: number }
  | { readonly _tag: "Groups"; readonly groups: ReadonlyArray<Group> }
  | { readonly _tag: "Admitted"; readonly admitted: AdmissionOutcome }
  | { readonly _tag: "Request"; readonly earlier: EarlierRequest | null }
  | { readonly _tag: "Cancelled"; readonly runs: ReadonlyArray<CancelledRun> }
  | { readonly _tag: "CleanupRequested"; readonly run: Run | null }
  | { readonly _tag: "Discarded"; readonly result: DiscardResult }
  | { readonly _tag: "Logged"; readonly statuses: ReadonlyArray<RunStatus | null> }
  | { readonly _tag: "RunIds"; readonly ids: ReadonlyArray<RunId> }
  | { readonly _tag: "Advanced"; readonly progress: OperationProgress | null }
  | { readonly _tag: "Renewed"; readonly isCounted: boolean }
  | { readonly _tag: "Done" }
  | { readonly _tag: "Fired"; readonly schedules: ReadonlyArray<ScheduleId> }
  /** A retryable failure. */
  | { readonly _tag: "Unavailable"; readonly reason: string }
  /** A defect. */
  | { readonly _tag: "Died"; readonly reason: string }

export interface Reply {
  readonly id: number
  readonly answer: Answer
}
