/** States of the rules of flow control, and keys by which events cancel runs. Functions without such rules have none. */
import type { Dialect } from "../Dialect.ts"

export const flow = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE flow_states (
    env_id ${text} NOT NULL, key ${text} NOT NULL, expires_at ${integer} NOT NULL, state ${text} NOT NULL,
    PRIMARY KEY (env_id, key)
  )${clusteredTable}`,
  `CREATE INDEX flow_states_by_expiry ON flow_states (expires_at)`,
  // Set on deliveries and running runs that events may cancel.
  `ALTER TABLE deliveries ADD COLUMN cancel_key ${text}`,
  `ALTER TABLE runs ADD COLUMN cancel_key ${text}`,
  `CREATE INDEX deliveries_cancellable ON deliveries (env_id, cancel_key, event_id) WHERE cancel_key IS NOT NULL`,
  `CREATE INDEX runs_cancellable ON runs (env_id, cancel_key, event_id) WHERE cancel_key IS NOT NULL`
]
