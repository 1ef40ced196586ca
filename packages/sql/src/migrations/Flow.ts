/** States of the rules of flow control. Functions without such rules have no rows. */
import type { Dialect } from "../Dialect.ts"

export const flow = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE flow_states (
    env_id ${text} NOT NULL, key ${text} NOT NULL, expires_at ${integer} NOT NULL, state ${text} NOT NULL,
    PRIMARY KEY (env_id, key)
  )${clusteredTable}`,
  `CREATE INDEX flow_states_by_expiry ON flow_states (expires_at)`
]
