/** Secrets: context variables. */
import type { Dialect } from "../Dialect.ts"

export const secrets = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  // The key sorts by bytes, as all text does, so a project's list needs no other index.
  `CREATE TABLE context_variables (
    project_id ${text} NOT NULL, key ${text} NOT NULL, env_id ${text} NOT NULL, description ${text} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, value ${text} NOT NULL,
    PRIMARY KEY (project_id, key)
  )${clusteredTable}`
]
