/** The audit log of one environment as an embedding program sees it. */
import type { Effect, Schema } from "effect"
import type { Caller } from "./access/Caller.ts"
import type { AuditEntry } from "./audit/AuditEntry.ts"
import { AuditLog, type AuditQuery } from "./audit/AuditLog.ts"
import { mapPage } from "./HostRecords.ts"
import { fromJsonText } from "./ids/JsonText.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"

/** An entry with its details as a value. */
export type HostAuditEntry = Omit<AuditEntry, "details"> & { readonly details: Schema.Json }

export interface HostAudit {
  /** Newest first. */
  readonly list: (query?: AuditQuery, page?: PageRequest) => Promise<Page<HostAuditEntry>>
}

export const hostAuditEntry = (entry: AuditEntry): HostAuditEntry => ({
  ...entry,
  details: fromJsonText(entry.details)
})

export const hostAudit = (run: <A, E>(effect: Effect.Effect<A, E, AuditLog | Caller>) => Promise<A>): HostAudit => ({
  list: (query = {}, page = firstPage) =>
    run(AuditLog.use((log) => log.list(query, page))).then(mapPage(hostAuditEntry))
})
