/** Audits of the database and the blob folder at the end of a sweep. */
import { readdirSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { auditDurableRuns, readDurableEvidence } from "./DurableAudit.ts"
import type { Environment } from "./Environment.ts"
import { openQuery } from "./Query.ts"

export const countDeliveries = async (environment: Environment): Promise<number> => {
  const [row] = await openQuery(environment)("SELECT count(*) AS n FROM deliveries")
  return Number(row?.n)
}

export const countDurableRuns = async (environment: Environment): Promise<number> => {
  const [row] = await openQuery(environment)("SELECT count(*) AS n FROM runs WHERE activations IS NOT NULL")
  return Number(row?.n)
}

/** Queries that return rows only if an invariant is broken. */
const invariants: ReadonlyArray<readonly [what: string, text: string]> = [
  ["runs that are still running", "SELECT run_id, var, node_id FROM runs WHERE status = 'running'"],
  ["deliveries that are still queued", "SELECT delivery_id, var, due_at FROM deliveries"],
  [
    "deliveries that succeeded twice",
    `SELECT event_id, var, count(*) AS n FROM runs WHERE status = 'succeeded' AND event_id IS NOT NULL
      GROUP BY env_id, event_id, project_id, ns, var HAVING count(*) > 1`
  ],
  [
    "events whose delivery was lost",
    `SELECT event_id, event_type FROM events e WHERE event_type LIKE 'crash:%' AND NOT EXISTS (
      SELECT 1 FROM runs r WHERE r.env_id = e.env_id AND r.event_id = e.event_id AND r.status IN ('succeeded', 'cancelled'))`
  ],
  [
    "counts of events that differ from the events",
    `SELECT a.env_id, a.event_type, a.n, count(e.event_id) AS stored FROM event_counts a
      LEFT JOIN events e ON e.env_id = a.env_id AND e.event_type = a.event_type
      GROUP BY a.env_id, a.event_type, a.n HAVING a.n <> count(e.event_id)`
  ],
  [
    "counts of runs that differ from the runs",
    `SELECT stored.status, stored.n, stored.bytes, counted.n AS counted, counted.bytes AS counted_bytes FROM (
        SELECT env_id, project_id, status, count(*) AS n,
          sum(coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0)) AS bytes
        FROM runs WHERE status <> 'running' GROUP BY env_id, project_id, status) AS stored
      FULL JOIN (
        SELECT env_id, project_id, status, sum(n) AS n, sum(bytes) AS bytes FROM run_counts
        GROUP BY env_id, project_id, status HAVING sum(n) > 0) AS counted
      ON counted.env_id = stored.env_id AND counted.project_id = stored.project_id AND counted.status = stored.status
      WHERE counted.n IS NULL OR stored.n IS NULL OR counted.n <> stored.n OR counted.bytes <> stored.bytes`
  ],
  [
    "storage counts that differ from the files",
    `SELECT * FROM (SELECT
        coalesce((SELECT sum(bytes) FROM org_storage), 0) AS counted,
        coalesce((SELECT sum(size) FROM files), 0) + coalesce((SELECT sum(size) FROM upload_parts), 0) AS stored) AS sums
      WHERE counted <> stored`
  ],
  [
    "waits of runs that have ended",
    `SELECT w.run_id, w.name FROM workflow_waits w WHERE NOT EXISTS (
      SELECT 1 FROM runs r WHERE r.env_id = w.env_id AND r.run_id = w.run_id AND r.status = 'running')`
  ],
  [
    "results of runs that were removed",
    `SELECT s.run_id, s.name FROM workflow_steps s WHERE NOT EXISTS (
      SELECT 1 FROM runs r WHERE r.env_id = s.env_id AND r.run_id = s.run_id)`
  ],
  [
    "requests with two results",
    "SELECT run_id, seq, count(*) AS n FROM workflow_steps GROUP BY env_id, run_id, seq HAVING count(*) > 1"
  ],
  [
    "results that do not follow each other",
    `SELECT run_id, count(*) AS n, max(position) AS last FROM workflow_steps
      GROUP BY env_id, run_id HAVING count(*) <> max(position) + 1`
  ],
  ["due schedules that did not fire", "SELECT schedule_id, due_at FROM schedules WHERE kind <> 'cron' AND cron IS NULL"]
]

const shownMax = 3

export interface AuditOptions {
  /** True if runs were purged. Then lost deliveries and durable runs are not audited. */
  readonly isPurged?: boolean
  /** False if no durable function ran. By default there must be one. */
  readonly hasDurable?: boolean
}

/** Returns broken invariants, one line each. Ignores lost deliveries if runners were killed. */
export const auditDatabase = async (
  environment: Environment,
  { isPurged = false, hasDurable = true }: AuditOptions = {}
): Promise<ReadonlyArray<string>> => {
  const query = openQuery(environment)
  const found: Array<string> = []
  for (const [what, text] of invariants) {
    if ((isPurged || environment.harness.areRunnersKilled) && what === "events whose delivery was lost") continue
    const rows = await query(text)
    if (rows.length > 0) found.push(`${what}: ${rows.length}, such as ${JSON.stringify(rows.slice(0, shownMax))}`)
  }
  if (isPurged || !hasDurable) return found
  return [...found, ...auditDurableRuns(await readDurableEvidence(query), environment.harness.durable)]
}

/** Returns blobs without a record, and records without their blob. */
export const auditBlobs = async (environment: Environment): Promise<ReadonlyArray<string>> => {
  const query = openQuery(environment)
  const keys = async (text: string) => (await query(text)).map(({ key }) => String(key))
  const builds = await keys("SELECT storage_path AS key FROM builds")
  const needed = new Set([...builds, ...(await keys("SELECT storage_path AS key FROM files"))])
  const artifacts = await keys(
    "SELECT 'builds/' || env_id || '/' || project_id || '/' || build_id || '.artifact' AS key FROM builds"
  )
  const noted = await keys("SELECT storage_path AS key FROM loose_bytes")
  const known = new Set([...needed, ...artifacts, ...noted])
  const content = join(environment.dataDir, "blobs", "content")
  const stored = new Set(filesBelow(content).map((file) => findKey(relative(content, file), known)))
  // An upload that started without a response may leave an empty folder.
  const folder = join(environment.dataDir, "blobs", "parts")
  const parts = readdirSync(folder).filter((name) => readdirSync(join(folder, name)).length > 0)
  const uploads = new Set(await keys("SELECT storage_parts AS key FROM uploads"))
  return [
    ...[...stored].filter((key) => !known.has(key)).map((key) => `blob without a record: ${key}`),
    ...[...needed].filter((key) => !stored.has(key)).map((key) => `record without its blob: ${key}`),
    ...parts.filter((name) => !uploads.has(name)).map((name) => `parts without an upload: ${name}`)
  ]
}

/** Returns the blob key of a file. A blob of several parts is a link to a folder next to it. */
const findKey = (path: string, known: ReadonlySet<string>): string => {
  for (let key = path; key !== "."; key = dirname(key)) {
    if (known.has(key)) return key
    if (key.endsWith("~")) return key.slice(0, -1)
  }
  return path
}

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
