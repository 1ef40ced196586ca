/** Pending calls of the host's hooks for new tenants. */
import type { Dialect } from "../Dialect.ts"

export const announcements = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE announcements (
    tenant_id ${text} PRIMARY KEY, kind ${text} NOT NULL, attempts ${integer} NOT NULL, due_at ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX announcements_by_due ON announcements (due_at, tenant_id)`
]
