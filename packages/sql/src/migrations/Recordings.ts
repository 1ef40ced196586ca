/** Recordings of runs, with encrypted contents. */
import type { Dialect } from "../Dialect.ts"

export const recordings = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE run_recordings (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, project_id ${text} NOT NULL, project_name ${text} NOT NULL,
    build_id ${text} NOT NULL, ns ${text} NOT NULL, var ${text} NOT NULL, run_type ${text} NOT NULL,
    status ${text} NOT NULL, start_time ${integer} NOT NULL, expires_at ${integer} NOT NULL,
    host_calls ${integer} NOT NULL, truncated ${integer} NOT NULL, length ${integer} NOT NULL,
    key_id ${text} NOT NULL, contents ${text} NOT NULL,
    PRIMARY KEY (env_id, run_id)
  )${table}`,
  "CREATE INDEX recordings_of_function ON run_recordings (env_id, var, ns, run_id)",
  "CREATE INDEX recordings_of_project ON run_recordings (env_id, project_id, run_id)",
  // Finds contents of other keys without reading contents.
  "CREATE INDEX recordings_of_key ON run_recordings (env_id, run_id, key_id)",
  "CREATE INDEX recordings_by_expiry ON run_recordings (expires_at)"
]
