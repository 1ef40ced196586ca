/** Where the audit log lives. Entries are never changed; they go by age, and by number. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { AuditAction, AuditEntry, AuditOutcome } from "./AuditEntry.ts"

/** What is left out restricts nothing. */
export interface AuditFilter {
  readonly env_id?: EnvId
  readonly action?: AuditAction
  readonly outcome?: AuditOutcome
  readonly actor_id?: string
  readonly object_id?: string
  /** Only entries made at this instant or later. */
  readonly since?: Timestamp
}

export class AuditStore extends Context.Service<
  AuditStore,
  {
    /**
     * Does `change` and stores the entry that its result asks for, in one transaction: both, or neither. Null asks for
     * none. `change` is to do nothing but what a store does; it may be done over, when the database undid it.
     */
    readonly within: <A, E, R>(
      change: Effect.Effect<A, E, R>,
      entryOf: (result: A) => AuditEntry | null
    ) => Effect.Effect<A, E | StoreUnavailable, R>
    /** All of them, or none. */
    readonly append: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    readonly list: (filter: AuditFilter, page: PageRequest) => Effect.Effect<Page<AuditEntry>, StoreUnavailable>
    /**
     * Removes up to `limit` entries that are older than `before`, or that have `keep` newer ones of the same
     * environment, action and outcome; how many. So a flood of one kind never drives out another.
     */
    readonly trim: (what: {
      readonly before: Timestamp
      readonly keep: number
      readonly limit: number
    }) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/audit/AuditStore") {}
