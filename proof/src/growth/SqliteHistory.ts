/** Fills a SQLite file with the data of weeks of use; `scale/Fill.ts` does the same on PostgreSQL. */
import { DatabaseSync } from "node:sqlite"
import * as Sqlite from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { makeEnvId, makeNodeId, makeProjectId, type Size } from "../scale/Fill.ts"

const week = 7 * 86_400_000

/** Rows per transaction. */
const batch = 500_000

/** Creates the file, without a journal and without syncs, because nothing uses it yet. */
export const fillSqlite = async (file: string, size: Size, progress: (text: string) => void): Promise<void> => {
  await Effect.runPromise(Effect.scoped(Layer.build(Sqlite.database({ file }))))
  const db = new DatabaseSync(file)
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000")
  for (const statement of tenants(size)) db.exec(statement)
  for (let first = 1; first <= size.runs; first += batch) {
    const last = Math.min(size.runs, first + batch - 1)
    db.exec(`BEGIN; ${runs(size, first, last)}; ${events(size, first, last)}; COMMIT`)
    progress(`${last} of ${size.runs} runs`)
  }
  for (const statement of counts) db.exec(statement)
  db.exec("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL")
  db.close()
}

const numbers = (first: number, last: number): string =>
  `WITH RECURSIVE series (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM series WHERE i < ${last})`

/** Returns SQL of an id: `sample` with its last digits replaced by the number `n`. */
const toId = (sample: string, n: string): string => `'${sample.slice(0, 24)}' || printf('%012x', ${n})`

/** Returns SQL of the time of each run, and an id with that time. */
const timed = ({ runs, weeks, now }: Size): string => `
  SELECT i, t, substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' || substr(r, 2, 3) || '-8' || substr(r, 5, 3) || '-'
      || substr(r, 5, 12) AS id
    FROM (SELECT i, t, printf('%012x', t) AS h, printf('%016x', i * 157373987413) AS r
      FROM (SELECT i, ${now - weeks * week} + CAST(i * ${(weeks * week) / runs} AS INTEGER) AS t FROM series))`

/** Returns SQL of runs, all in the first environment. */
const runs = (size: Size, first: number, last: number): string => `
  INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var, run_type,
      status, start_time, stop_time, origin_run_id, event_id, attempt, node_id, cpu_ms, wall_ms, heap_bytes, result, logs)
    ${numbers(first, last)}
    SELECT '${makeEnvId(1)}', id, id, ${toId(makeProjectId(1), "i % 4")}, 'project ' || (i % 4), '${makeProjectId(1)}', 'main',
      'fn' || (i % 7), CASE i % 5 WHEN 0 THEN 'call' ELSE 'event' END,
      CASE i % 200 WHEN 7 THEN 'cancelled' WHEN 3 THEN 'failed' WHEN 11 THEN 'failed' ELSE 'succeeded' END,
      t, t + 40, NULL, CASE i % 5 WHEN 0 THEN NULL ELSE id END, 1, '${makeNodeId(1)}', 1.25, 39.5, 4000000,
      '{"ok":true,"order":"0123456789abcdef0123456789abcdef","n":' || i || '}',
      CASE i % 5 WHEN 1 THEN '[{"seq":0,"time":' || t || ',"level":"info","message":"${"hello ".repeat(20)}","data":null}]' END
    FROM (${timed(size)})`

const events = (size: Size, first: number, last: number): string => `
  INSERT INTO events (env_id, event_id, stream_id, event_type, event_time, created_at, event_data)
    ${numbers(first, last)}
    SELECT '${makeEnvId(1)}', id, id, 'order:' || (i % 12), t, t, '{"n":' || i || ',"payload":"${"hello ".repeat(20)}"}'
    FROM (${timed(size)}) WHERE i % 2 = 1 AND i % 5 <> 0`

const tenants = ({ envs, now }: Size): ReadonlyArray<string> => [
  `INSERT INTO orgs (org_id, slug, name, plan, members, created_at, updated_at) ${numbers(1, envs)}
    SELECT ${toId(makeEnvId(1).replace("-0002-", "-0001-"), "i")}, 'org-' || i, 'Organization', 'Self-Host', 1, ${now}, ${now}
    FROM series`,
  `INSERT INTO envs (env_id, org_id, name, active, created_at) ${numbers(1, envs)}
    SELECT ${toId(makeEnvId(1), "i")}, ${toId(makeEnvId(1).replace("-0002-", "-0001-"), "i")}, 'main', 1, ${now} FROM series`
]

const counts: ReadonlyArray<string> = [
  `INSERT INTO run_counts (env_id, project_id, project_name, run_type, status, n, bytes, month, month_runs)
    SELECT env_id, project_id, project_name, run_type, status, count(*),
      sum(coalesce(length(result), 0) + coalesce(length(logs), 0)), 0, 0
    FROM runs GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO event_counts (env_id, event_type, n) SELECT env_id, event_type, count(*) FROM events GROUP BY 1, 2`
]
