/** Batches of counts of runs that are not stored: the latest of each node, so that a repeated batch counts once. */
import type { Dialect } from "../Dialect.ts"

export const runCounts = ({ types: { text, integer }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE run_count_batches (
    node_id ${text} PRIMARY KEY, seq ${integer} NOT NULL, at ${integer} NOT NULL
  )${clusteredTable}`,
  `CREATE INDEX run_count_batches_by_age ON run_count_batches (at)`
]
