/** The audit log of one environment, for the host. */
import type { Effect, Schema } from "effect"
import { fromJsonText } from "../foundation/JsonText.ts"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { AuditEntry } from "../resources/audit/AuditEntry.ts"
import { AuditLog, type AuditQuery } from "../resources/audit/AuditLog.ts"
import type { Caller } from "../tenants/access/Caller.ts"
import { mapPage } from "./HostRecords.ts"

/** An audit entry with its details as a JSON value. */
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
