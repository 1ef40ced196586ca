/** Usage of runs: stored bytes, and the number of runs started in the last month. */
import type { Month } from "@weft/core/adapter"
import type { Dialect } from "../Dialect.ts"

/** Counts the stored runs once. From then on the journal updates the counts. `month` is the current one. */
export const usage = ({ types: { integer } }: Dialect, month: Month): ReadonlyArray<string> => [
  // UTF-8 bytes of `result` and `logs`.
  `ALTER TABLE run_counts ADD COLUMN bytes ${integer} NOT NULL DEFAULT 0`,
  // Start of the last month in which a run started, and the number of runs started in it, including removed ones.
  `ALTER TABLE run_counts ADD COLUMN month ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE run_counts ADD COLUMN month_runs ${integer} NOT NULL DEFAULT 0`,
  `UPDATE run_counts SET bytes = stored.bytes, month = ${month.start}, month_runs = stored.month_runs
    FROM (
      SELECT env_id, project_id, project_name, run_type, status,
        sum(coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0)) AS bytes,
        sum(CASE WHEN start_time >= ${month.start} AND start_time < ${month.end} THEN 1 ELSE 0 END) AS month_runs
      FROM runs WHERE status <> 'running' GROUP BY env_id, project_id, project_name, run_type, status
    ) AS stored
    WHERE run_counts.env_id = stored.env_id AND run_counts.project_id = stored.project_id
      AND run_counts.project_name = stored.project_name AND run_counts.run_type = stored.run_type
      AND run_counts.status = stored.status`
]
