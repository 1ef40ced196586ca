/** What the main thread and the journal's thread say to each other. All of it is plain data. */
import type {
  Admission,
  Admitted,
  CancelledRun,
  ClaimRequest,
  Delivery,
  EarlierRequest,
  EnvId,
  Group,
  NodeId,
  Own,
  Run,
  RunId,
  RunLog,
  RunRef,
  RunSelection,
  RunStatus,
  ScheduleId,
  Sight,
  Tick,
  Timestamp
} from "@weft/core"
import type { Rows } from "@weft/sql"
import type { ClaimRows } from "./ClaimRows.ts"
import type { ConnectionOptions } from "./SqliteClient.ts"

/** Where the thread finds its file. */
export interface JournalThreadData extends ConnectionOptions {
  /** Of the `WriteTurn` that it shares. */
  readonly turn: SharedArrayBuffer
}

export type Call =
  /** Entries, as `toRows` gives them. One process owns the file: there are no leases. */
  | { readonly _tag: "Commit"; readonly rows: Rows }
  | { readonly _tag: "Claim"; readonly request: ClaimRequest }
  | {
      readonly _tag: "Reap"
      readonly nodeId: NodeId
      readonly now: Timestamp
      readonly limit: number
      readonly own: Own | undefined
    }
  | { readonly _tag: "Look"; readonly nodeId: NodeId; readonly now: Timestamp }
  | { readonly _tag: "Purge"; readonly envId: EnvId; readonly before: RunId; readonly limit: number }
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
  | { readonly _tag: "Log"; readonly logs: ReadonlyArray<RunLog> }
  | { readonly _tag: "EndedOf"; readonly runs: ReadonlyArray<RunRef> }
  | { readonly _tag: "Redeliver"; readonly delivery: Delivery }
  | { readonly _tag: "Fire"; readonly ticks: ReadonlyArray<Tick> }

/** `id` is that of the answer; ids are not used twice. */
export type Request =
  /** The first one, and only that. */
  | { readonly _tag: "Open"; readonly data: JournalThreadData }
  | { readonly _tag: "Call"; readonly id: number; readonly call: Call }
  /** Close the database and end. */
  | { readonly _tag: "Close" }

export type Answer =
  /** The places of the entries that did not count, ascending. */
  | { readonly _tag: "Committed"; readonly uncounted: ReadonlyArray<number> }
  | { readonly _tag: "Claimed"; readonly result: ClaimRows }
  | { readonly _tag: "Reaped"; readonly runs: ReadonlyArray<Run> }
  | { readonly _tag: "Seen"; readonly sight: Sight }
  /** Of what was purged, unparked or forgotten. */
  | { readonly _tag: "Counted"; readonly count: number }
  | { readonly _tag: "Groups"; readonly groups: ReadonlyArray<Group> }
  | { readonly _tag: "Admitted"; readonly admitted: Admitted }
  | { readonly _tag: "Request"; readonly earlier: EarlierRequest | null }
  | { readonly _tag: "Cancelled"; readonly runs: ReadonlyArray<CancelledRun> }
  | { readonly _tag: "Logged"; readonly statuses: ReadonlyArray<RunStatus | null> }
  | { readonly _tag: "RunIds"; readonly ids: ReadonlyArray<RunId> }
  | { readonly _tag: "Done" }
  | { readonly _tag: "Fired"; readonly schedules: ReadonlyArray<ScheduleId> }
  /** The store did not answer. */
  | { readonly _tag: "Unavailable"; readonly reason: string }
  /** A mistake of ours. */
  | { readonly _tag: "Died"; readonly reason: string }

export interface Reply {
  readonly id: number
  readonly answer: Answer
}
