/** Pauses of functions, projects and environments. Nodes keep copies of all of them. */
import type { Dialect } from "../Dialect.ts"

export const pauses = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE pauses (
    env_id ${text} NOT NULL, pause_id ${text} NOT NULL, target ${text} NOT NULL,
    project_id ${text}, project_name ${text}, ns ${text}, var ${text},
    schedules ${text} NOT NULL, paused_at ${integer} NOT NULL, paused_by ${text} NOT NULL,
    resumed_at ${integer}, changed_at ${integer} NOT NULL,
    PRIMARY KEY (env_id, pause_id)
  )${table}`,
  `CREATE UNIQUE INDEX pauses_active ON pauses (env_id, target) WHERE resumed_at IS NULL`
]
