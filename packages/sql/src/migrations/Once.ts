/** Claimed idempotency keys: of requests with an Idempotency-Key, and of events for handlers with `idempotency`. */
import type { Dialect } from "../Dialect.ts"

export const once = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE once (
    env_id ${text} NOT NULL, key ${text} NOT NULL, expires_at ${integer} NOT NULL, event_id ${text} NOT NULL,
    digest ${text} NOT NULL, PRIMARY KEY (env_id, key)
  )${clusteredTable}`,
  `CREATE INDEX once_by_expiry ON once (expires_at)`
]
