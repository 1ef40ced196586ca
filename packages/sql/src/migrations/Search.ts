/** The index of searches for runs: the fields that a run has from its start, in the order of the ids. */
export const search: ReadonlyArray<string> = [
  "CREATE INDEX runs_search ON runs (env_id, run_id, var, ns, project_id, project_name, run_type)"
]
