/** Dead letters in the order of their runs, in which operations redrive them. */
export const deadRuns: ReadonlyArray<string> = [
  `CREATE INDEX runs_dead_by_id ON runs (env_id, run_id) WHERE dead_since IS NOT NULL`
]
