/** Secrets: context variables. */
import type { Dialect } from "../Dialect.ts"

export const secrets = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  // Text sorts by bytes, so the primary key also serves the list of a project.
  `CREATE TABLE context_variables (
    project_id ${text} NOT NULL, key ${text} NOT NULL, env_id ${text} NOT NULL, description ${text} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, value ${text} NOT NULL,
    PRIMARY KEY (project_id, key)
  )${clusteredTable}`
]
