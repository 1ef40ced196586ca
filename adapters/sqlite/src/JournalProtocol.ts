/** What the main thread and the journal's thread say to each other. All of it is plain data. */
import type { ClaimRequest, ClaimResult, EnvId, JournalEntry, Lease, NodeId, Run, RunId, Timestamp } from "@weft/core"
import type { ConnectionOptions } from "./SqliteClient.ts"

/** What the thread is started with. */
export type JournalThreadData = ConnectionOptions

export type Call =
  | { readonly _tag: "Commit"; readonly entries: ReadonlyArray<JournalEntry>; readonly lease: Lease | null }
  | { readonly _tag: "Claim"; readonly request: ClaimRequest }
  | { readonly _tag: "Reap"; readonly nodeId: NodeId; readonly now: Timestamp; readonly limit: number }
  | { readonly _tag: "Purge"; readonly envId: EnvId; readonly before: RunId; readonly limit: number }

/** `id` is that of the answer; ids are not used twice. */
export type Request =
  | { readonly _tag: "Call"; readonly id: number; readonly call: Call }
  /** Close the database and end. */
  | { readonly _tag: "Close" }

export type Answer =
  | { readonly _tag: "Committed"; readonly counted: ReadonlyArray<boolean> }
  | { readonly _tag: "Claimed"; readonly result: ClaimResult }
  | { readonly _tag: "Reaped"; readonly runs: ReadonlyArray<Run> }
  | { readonly _tag: "Purged"; readonly count: number }
  /** The store did not answer. */
  | { readonly _tag: "Unavailable"; readonly reason: string }
  /** A mistake of ours. */
  | { readonly _tag: "Died"; readonly reason: string }

export interface Reply {
  readonly id: number
  readonly answer: Answer
}
