/** Dead letters: runs of last attempts that failed. */
import type { Dialect } from "../Dialect.ts"

export const deadLetters = ({ types: { integer } }: Dialect): ReadonlyArray<string> => [
  // Time since when the delivery of the run is a dead letter; null after its redrive, and for all other runs.
  `ALTER TABLE runs ADD COLUMN dead_since ${integer}`,
  `CREATE INDEX runs_dead ON runs (env_id, dead_since, run_id) WHERE dead_since IS NOT NULL`
]
