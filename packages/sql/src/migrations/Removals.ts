/** Removed projects, whose deliveries are discarded. */
import type { Dialect } from "../Dialect.ts"

export const removals = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE removed_projects (
    project_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, removed_at ${integer} NOT NULL, swept ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX removed_projects_unswept ON removed_projects (project_id) WHERE swept = 0`,
  `CREATE INDEX removed_projects_by_age ON removed_projects (removed_at) WHERE swept = 1`
]
