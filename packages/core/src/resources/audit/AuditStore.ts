/** Storage of the audit log. Entries are immutable, and are removed by age and by number. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { AuditAction, AuditEntry, AuditOutcome } from "./AuditEntry.ts"

/** Conditions of a list. Absent fields match all entries. */
export interface AuditFilter {
  readonly env_id?: EnvId
  readonly action?: AuditAction
  readonly outcome?: AuditOutcome
  readonly actor_id?: string
  readonly object_id?: string
  /** Only entries of this instant or later. */
  readonly since?: Timestamp
}

export class AuditStore extends Context.Service<
  AuditStore,
  {
    /**
     * Runs `change` and stores the entry for its result in one transaction. A null entry stores nothing. `change` must only
     * use stores, because it runs again if the database rolls it back.
     */
    readonly within: <A, E, R>(
      change: Effect.Effect<A, E, R>,
      toEntry: (result: A) => AuditEntry | null
    ) => Effect.Effect<A, E | StoreUnavailable, R>
    /** Stores all entries in one transaction. */
    readonly append: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, StoreUnavailable>
    /** Lists entries, newest first. */
    readonly list: (filter: AuditFilter, page: PageRequest) => Effect.Effect<Page<AuditEntry>, StoreUnavailable>
    /**
     * Removes at most `limit` entries, and returns their number. Removes entries that are older than `before`, and those
     * with `keep` newer entries of the same environment, action and outcome. Therefore many entries of one kind never
     * displace those of another.
     */
    readonly trim: (what: {
      readonly before: Timestamp
      readonly keep: number
      readonly limit: number
    }) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/resources/audit/AuditStore") {}
