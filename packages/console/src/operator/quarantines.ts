/** Quarantined builds, from the audit log: quarantines without a later release. */
import type { AuditEntry } from "@weft/client"
import { admin } from "./Operator.ts"

/** Newest entries of each kind that are read. */
const entriesMax = 100

export interface Quarantined {
  readonly entry: AuditEntry
  /** True if nobody has lifted it since. */
  readonly isOpen: boolean
}

/** Returns the newest quarantine of each build, newest first. */
export const readQuarantines = async (): Promise<ReadonlyArray<Quarantined>> => {
  const [quarantined, released] = await Promise.all([
    admin.listAudit({ action: "build.quarantine", limit: entriesMax }),
    admin.listAudit({ action: "build.release", limit: entriesMax })
  ])
  const latest = new Map<string, AuditEntry>()
  for (const entry of quarantined.items) {
    const key = entry.object_id ?? entry.audit_id
    if (!latest.has(key)) latest.set(key, entry)
  }
  return [...latest.values()].map((entry) => {
    const isLifted = released.items.some(
      ({ object_id, created_at }) =>
        object_id === entry.object_id && Date.parse(created_at) >= Date.parse(entry.created_at)
    )
    return { entry, isOpen: !isLifted }
  })
}
