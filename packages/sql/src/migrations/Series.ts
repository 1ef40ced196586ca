/** Counts of ended runs by function and minute. Each node has rows of its own, which it replaces. */
import type { Dialect } from "../Dialect.ts"

export const series = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE run_series (
    env_id ${text} NOT NULL, at ${integer} NOT NULL, project_id ${text} NOT NULL, ns ${text} NOT NULL,
    var ${text} NOT NULL, node_id ${text} NOT NULL, project_name ${text} NOT NULL,
    succeeded ${integer} NOT NULL, failed ${integer} NOT NULL, cancelled ${integer} NOT NULL,
    retried ${integer} NOT NULL, wait ${text} NOT NULL, duration ${text} NOT NULL,
    PRIMARY KEY (env_id, at, project_id, ns, var, node_id)
  )${clusteredTable}`,
  `CREATE INDEX run_series_functions ON run_series (env_id, project_id, ns, var, at)`
]
