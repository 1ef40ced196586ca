/** The audit log. */
import type { Dialect } from "../Dialect.ts"

export const audit = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE audit (
    audit_id ${text} PRIMARY KEY, env_id ${text}, action ${text} NOT NULL, outcome ${text} NOT NULL,
    count ${integer} NOT NULL, actor_type ${text} NOT NULL, actor_id ${text}, actor_api_key_id ${text},
    object_id ${text}, object_name ${text}, details ${text} NOT NULL, request_id ${text}, address ${text},
    created_at ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX audit_of_env ON audit (env_id, audit_id)`,
  // Counts the entries of each kind without reading them, and finds the oldest of a kind.
  `CREATE INDEX audit_of_kind ON audit (env_id, action, outcome, audit_id)`,
  `CREATE INDEX audit_by_time ON audit (created_at)`
]
