/**
 * The statements of the journal over many rows, prepared once.
 *
 * Each `add…` function appends the values of one row in the order of the columns that its statement names.
 */
import {
  type Delivery,
  type Event,
  type EventId,
  type LogEntry,
  parkedAt,
  type Run,
  type RunId,
  type Timestamp,
  utf8Length
} from "@weft/core"
import { Effect } from "effect"
import { type Batched, batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import type { Expected, Part, Rows } from "./Dialect.ts"

export const journalStatements = (database: Database["Service"]) => ({
  ...eventStatements(database),
  ...runStatements(database),
  ...deliveryStatements(database),
  ...leaseStatements(database),
  /** Whether they are better executed together; see `Dialect.together`. */
  together: togetherOn(database),
  independent: independentOn(database)
})

export type JournalStatements = ReturnType<typeof journalStatements>

const eventStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  insertEvents: batched<{ readonly event_id: EventId }>(sql, dialect, {
    columns: [...texts(4), "integer", "integer", "text"],
    ...unlessThere(
      (rows) => `INSERT INTO events (env_id, event_id, stream_id, event_type, event_time, created_at, event_data)
      ${rows}`
    ),
    returns: "event_id"
  }),

  countEvents: batched(sql, dialect, {
    columns: ["text", "text", "integer"],
    text: (rows) => `INSERT INTO event_counts (env_id, event_type, n) ${rows}
      ON CONFLICT (env_id, event_type) DO UPDATE SET n = event_counts.n + excluded.n`
  })
})

/** As `countEvents`, at the end of the transaction. */
export const countArrivals = ({ dialect, writer: sql }: Database["Service"]): JournalStatements["countEvents"] =>
  batched(sql, dialect, {
    columns: ["text", "text", "integer"],
    text: (rows) => `INSERT INTO event_arrivals (env_id, event_type, n) ${rows}`
  })

const runStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  /** Runs that begin, with the delivery that they hold, if any. */
  insertRuns: batched(sql, dialect, {
    columns: [...texts(10), "integer", ...texts(2), "integer", ...texts(5)],
    ...unlessThere(
      (rows) => `INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var,
      run_type, status, start_time, origin_run_id, event_id, attempt, node_id, delivery_id, first_run_id, terms,
      group_key)
      ${rows}`
    )
  }),

  /** Runs that are over and may never have been stored. */
  insertEnded: batched<{ readonly run_id: RunId }>(sql, dialect, {
    columns: [
      ...texts(10),
      "integer",
      "integer",
      ...texts(2),
      "integer",
      "text",
      "real",
      "real",
      "integer",
      ...texts(2)
    ],
    text: (rows) => `INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var,
      run_type, status, start_time, stop_time, origin_run_id, event_id, attempt, node_id, cpu_ms, wall_ms, heap_bytes,
      result, logs) ${rows} ON CONFLICT DO NOTHING`,
    returns: "run_id"
  }),

  /** Ends those of the runs that are running and hold the delivery, or none, as given. */
  endRuns: batched<{ readonly run_id: RunId }>(sql, dialect, {
    columns: [...texts(4), "integer", "text", "real", "real", "integer", "text"],
    text: (rows) => `WITH e (env_id, run_id, delivery_id, status, stop_time, result, cpu_ms, wall_ms, heap_bytes, logs)
      AS (${rows})
      UPDATE runs SET status = e.status, stop_time = e.stop_time, result = e.result, cpu_ms = e.cpu_ms,
        wall_ms = e.wall_ms, heap_bytes = e.heap_bytes, logs = e.logs,
        delivery_id = NULL, first_run_id = NULL, terms = NULL, group_key = NULL
      FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id AND ${isRunning("runs")}
        AND runs.delivery_id IS NOT DISTINCT FROM e.delivery_id`,
    returns: "runs.run_id"
  }),

  countRuns: batched(sql, dialect, {
    columns: [...texts(5), ...integers(4)],
    text: (rows) => `INSERT INTO run_counts (env_id, project_id, project_name, run_type, status, n, bytes, month,
      month_runs) ${rows}
      ON CONFLICT (env_id, project_id, project_name, run_type, status) DO UPDATE SET
        n = run_counts.n + excluded.n, bytes = run_counts.bytes + excluded.bytes,
        month_runs = CASE WHEN excluded.month > run_counts.month THEN excluded.month_runs
          WHEN excluded.month = run_counts.month THEN run_counts.month_runs + excluded.month_runs
          ELSE run_counts.month_runs END,
        month = CASE WHEN excluded.month > run_counts.month THEN excluded.month ELSE run_counts.month END`
  }),

  deleteRuns: batched(sql, dialect, {
    columns: texts(2),
    text: (rows) => `DELETE FROM runs WHERE (env_id, run_id) IN (${rows})`
  })
})

const deliveryStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  insertDeliveries: batched(sql, dialect, {
    columns: ["text", "integer", ...texts(9), "integer", ...texts(3)],
    ...unlessThere(
      (rows) => `INSERT INTO deliveries (env_id, due_at, delivery_id, event_id, stream_id, project_id,
      project_name, build_id, ns, var, run_type, attempt, first_run_id, terms, group_key)
      ${rows}`
    )
  }),

  /**
   * Gives back the deliveries that running runs hold, for the attempt and the time given; run it before `endRuns`. Of
   * two that end the same run at once only one may find it running.
   */
  giveBack: batched(sql, dialect, {
    columns: [...texts(3), "integer", "integer", "text"],
    text: (rows) => `WITH e (env_id, run_id, delivery_id, attempt, due_at, first_run_id) AS (${rows})
      INSERT INTO deliveries (env_id, due_at, delivery_id, event_id, stream_id, project_id, project_name, build_id,
        ns, var, run_type, attempt, first_run_id, terms, group_key)
      SELECT r.env_id, e.due_at, r.delivery_id, r.event_id, r.stream_id, r.project_id, r.project_name, r.build_id,
        r.ns, r.var, r.run_type, e.attempt, e.first_run_id, r.terms, r.group_key
      FROM e JOIN runs r ON r.env_id = e.env_id AND r.run_id = e.run_id
      WHERE ${isRunning("r")} AND r.delivery_id = e.delivery_id${dialect.forUpdate("r")}`
  }),

  /** Makes parked deliveries due at the time given. */
  unpark: batched(sql, dialect, {
    columns: ["text", "text", "integer"],
    text: (rows) => `WITH e (env_id, delivery_id, due_at) AS (${rows})
      UPDATE deliveries SET due_at = e.due_at
      FROM e WHERE deliveries.env_id = e.env_id AND deliveries.due_at = ${parkedAt}
        AND deliveries.delivery_id = e.delivery_id`
  }),

  deleteDeliveries: batched(sql, dialect, {
    columns: ["text", "integer", "text"],
    text: (rows) => `DELETE FROM deliveries WHERE (env_id, due_at, delivery_id) IN (${rows})`
  })
})

const leaseStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  renewLeases: batched(sql, dialect, {
    columns: ["text", "integer"],
    text: (rows) => `INSERT INTO leases (node_id, until) ${rows}
      ON CONFLICT (node_id) DO UPDATE SET until = excluded.until`
  })
})

/** Executes those parts together that have rows. */
const togetherOn = ({ dialect: { together }, writer: sql }: Database["Service"]) =>
  together === null
    ? null
    : (parts: ReadonlyArray<Part>, expected: ReadonlyArray<Expected>) => {
        const filled = parts.filter(hasRows)
        if (filled.length === 0) return Effect.void
        const checks = expected.map((each) => ({ ...each, parts: each.parts.filter(hasRows) }))
        return together(
          sql,
          filled,
          checks.filter((each) => each.parts.length > 0)
        )
      }

const hasRows = ({ rows }: Part): boolean => rows.length > 0

/** Executes statements that have nothing to do with each other, as one where that is better. */
const independentOn = (database: Database["Service"]) => {
  const together = togetherOn(database)
  return (all: ReadonlyArray<{ readonly statement: Batched<never>; readonly rows: Rows }>) =>
    together === null
      ? Effect.forEach(all, ({ statement, rows }) => statement.run(rows), { discard: true })
      : // Nothing in particular is expected of them.
        Effect.catchTag(
          together(
            all.map(({ statement, rows }) => statement.part(rows)),
            []
          ),
          "NotAllCount",
          Effect.die
        )
}

/** Text that inserts rows, but for those that are there already. */
const unlessThere = (insert: (rows: string) => string) => ({
  text: (rows: string) => `${insert(rows)} ON CONFLICT DO NOTHING`,
  fresh: insert
})

/**
 * For runs that are found by their ids. Where the plain comparison stands, a database may take all that are running, of
 * which it has an index, and look for each run among them.
 */
const isRunning = (table: string): string => `${table}.status || '' = 'running'`

const texts = (count: number): ReadonlyArray<"text"> => Array.from({ length: count }, () => "text" as const)
const integers = (count: number): ReadonlyArray<"integer"> => Array.from({ length: count }, () => "integer" as const)

export const addEvent = (rows: Rows, event: Event): void => {
  rows.push(
    event.env_id,
    event.event_id,
    event.stream_id,
    event.event_type,
    event.event_time,
    event.created_at,
    event.event_data
  )
}

export const addDelivery = (rows: Rows, delivery: Delivery): void => {
  rows.push(
    delivery.env_id,
    delivery.due_at,
    delivery.delivery_id,
    delivery.event_id,
    delivery.stream_id,
    delivery.project_id,
    delivery.project_name,
    delivery.build_id,
    delivery.ns,
    delivery.var,
    delivery.run_type,
    delivery.attempt,
    delivery.first_run_id,
    termsOf(delivery),
    delivery.group?.key ?? null
  )
}

/** What a delivery has beyond its columns, as JSON text. */
const termsOf = ({ retry, timeout_ms, caused_by, group, traceparent }: Delivery): string =>
  JSON.stringify({ retry, timeout_ms, caused_by, group, traceparent })

/** `terms`: those of the delivery as they are stored, if they are. */
export const addStart = (rows: Rows, run: Run, held: Delivery | null, terms?: string): void => {
  rows.push(run.env_id, run.run_id, run.stream_id, run.project_id, run.project_name, run.build_id, run.ns, run.var)
  rows.push(run.run_type, "running", run.start_time, run.origin_run_id, run.event_id, run.attempt, run.node_id)
  if (held === null) rows.push(null, null, null, null)
  else rows.push(held.delivery_id, held.first_run_id, terms ?? termsOf(held), held.group?.key ?? null)
}

/** `logs` is the text of what the run logged, as for `addEnd`. */
export const addEnded = (rows: Rows, run: Run, logs: string | null): void => {
  rows.push(run.env_id, run.run_id, run.stream_id, run.project_id, run.project_name, run.build_id, run.ns, run.var)
  rows.push(run.run_type, run.status, run.start_time, run.stop_time, run.origin_run_id, run.event_id, run.attempt)
  rows.push(run.node_id, run.cpu_ms, run.wall_ms, run.heap_bytes, run.result, logs)
}

export const addEnd = (rows: Rows, run: Run, logs: string | null, deliveryId: string | null): void => {
  rows.push(run.env_id, run.run_id, deliveryId, run.status, run.stop_time, run.result)
  rows.push(run.cpu_ms, run.wall_ms, run.heap_bytes, logs)
}

export const addGivenBack = (
  rows: Rows,
  run: Run,
  deliveryId: string,
  next: { readonly attempt: number; readonly due_at: Timestamp; readonly first_run_id: RunId | null }
): void => {
  rows.push(run.env_id, run.run_id, deliveryId, next.attempt, next.due_at, next.first_run_id)
}

/** A run logs its lines once, at its end: one text is cheaper to write and to page than a row for each line. */
export const logsText = (logs: ReadonlyArray<LogEntry>): string | null =>
  logs.length === 0 ? null : JSON.stringify(logs)

/** The UTF-8 bytes that a run's result and the text of its logs take. */
export const storedBytes = ({ result }: Run, logs: string | null): number => storedBytesOf(result, logs)

export const storedBytesOf = (result: string | null, logs: string | null): number =>
  utf8Length(result ?? "") + utf8Length(logs ?? "")
