/** Indexes of searches for runs: by function and project, and by the text of errors. */
import type { Dialect } from "../Dialect.ts"
import { errorText } from "../RunSearch.ts"

export const search = (dialect: Dialect): ReadonlyArray<string> => [
  // By project first, so that one index is for both.
  "CREATE INDEX runs_of_function ON runs (env_id, project_id, var, ns, run_id)",
  // Only failed runs have an entry. Searches among them read no rows of the table.
  ...(dialect.indexesTexts
    ? [
        `CREATE INDEX runs_errors ON runs (env_id, run_id, var, ns, project_id, project_name, ${errorText(dialect)})
          WHERE status = 'failed'`
      ]
    : [])
]
