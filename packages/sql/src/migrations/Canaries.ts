/** The latest canary of each project, and what nodes counted for it. Nodes keep copies of the active ones. */
import type { Dialect } from "../Dialect.ts"

export const canaries = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE canaries (
    project_id ${text} NOT NULL PRIMARY KEY, env_id ${text} NOT NULL, canary_id ${text} NOT NULL,
    build_id ${text} NOT NULL, base_build_id ${text} NOT NULL, state ${text} NOT NULL,
    settings ${text} NOT NULL, manifest ${text} NOT NULL,
    started_at ${integer} NOT NULL, ended_at ${integer}, reason ${text}
  )${table}`,
  `CREATE TABLE canary_counts (
    canary_id ${text} NOT NULL, node_id ${text} NOT NULL, env_id ${text} NOT NULL, counts ${text} NOT NULL,
    PRIMARY KEY (canary_id, node_id)
  )${table}`
]
