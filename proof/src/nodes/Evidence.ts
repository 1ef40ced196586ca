/** The stored events and runs, in the form that the checks need. */
import type { Query, Row } from "@weft/bench/instruments"
import { attempts } from "./Guest.ts"

export interface StoredEvent {
  readonly event_id: string
  readonly event_type: string
  readonly data: Readonly<Record<string, unknown>>
  /** Epoch milliseconds. */
  readonly created_at: number
}

export interface StoredRun {
  readonly run_id: string
  readonly event_id: string | null
  readonly var: string
  readonly run_type: string
  readonly status: string
  readonly attempt: number
  readonly start_time: number
  readonly stop_time: number | null
  /** Result of a successful run. */
  readonly result: Readonly<Record<string, unknown>>
  /** Name and message of the error of a failed run. */
  readonly error: string | null
}

export interface Evidence {
  readonly events: ReadonlyMap<string, StoredEvent>
  readonly runs: ReadonlyArray<StoredRun>
  readonly runsOfEvent: ReadonlyMap<string, ReadonlyArray<StoredRun>>
}

const parseObject = (text: unknown): Readonly<Record<string, unknown>> => {
  const value: unknown = typeof text === "string" ? JSON.parse(text) : null
  return typeof value === "object" && value !== null ? { ...value } : {}
}

const toEvent = (row: Row): StoredEvent => ({
  event_id: String(row.event_id),
  event_type: String(row.event_type),
  data: parseObject(row.event_data),
  created_at: Number(row.created_at)
})

const toRun = (row: Row): StoredRun => {
  const result = parseObject(row.result)
  const { name, message } = parseObject(JSON.stringify(result.error ?? null))
  return {
    run_id: String(row.run_id),
    event_id: row.event_id === null ? null : String(row.event_id),
    var: String(row.var),
    run_type: String(row.run_type),
    status: String(row.status),
    attempt: Number(row.attempt),
    start_time: Number(row.start_time),
    stop_time: row.stop_time === null ? null : Number(row.stop_time),
    result: row.status === "succeeded" ? result : {},
    error: row.status === "failed" || row.status === "cancelled" ? `${name}: ${message}` : null
  }
}

const pageSize = 20_000

/** Range of ids, in one environment or in all (null). */
export interface Extent {
  readonly envId: string | null
  readonly after: string
  readonly before: string
}

/** All ids are less than "g". */
const everything: Extent = { envId: null, after: "", before: "g" }

const readAll = async <A>(
  query: Query,
  { envId, after, before }: Extent,
  table: string,
  id: string,
  columns: string,
  read: (row: Row) => A
): Promise<Array<A>> => {
  const all: Array<A> = []
  for (let last = after; ; ) {
    const text = `SELECT ${columns} FROM ${table} WHERE ${id} > $1 AND ${id} < $2
      ${envId === null ? "" : "AND env_id = $3"} ORDER BY ${id} LIMIT ${pageSize}`
    const rows = await query(text, envId === null ? [last, before] : [last, before, envId])
    for (const row of rows) all.push(read(row))
    if (rows.length < pageSize) return all
    last = String(rows.at(-1)?.[id])
  }
}

export const gather = async (query: Query, extent: Extent = everything): Promise<Evidence> => {
  const events = await readAll(
    query,
    extent,
    "events",
    "event_id",
    "event_id, event_type, event_data, created_at",
    toEvent
  )
  const columns = "run_id, event_id, var, run_type, status, attempt, start_time, stop_time, result"
  const runs = await readAll(query, extent, "runs", "run_id", columns, toRun)
  const ofEvents = runs.filter((run) => run.event_id !== null)
  return {
    events: new Map(events.map((event) => [event.event_id, event])),
    runs,
    runsOfEvent: Map.groupBy(ofEvents, (run) => run.event_id ?? "")
  }
}

/**
 * SQL condition of active runs whose work began before `$1`. A run that was lost with its node and retried late starts
 * after `$1`, but its event does not.
 */
export const stillRunning = `status = 'running' AND (start_time <= $1::bigint
  OR EXISTS (SELECT 1 FROM events e WHERE e.env_id = runs.env_id AND e.event_id = runs.event_id AND e.created_at <= $1::bigint))`

/** Expected outcome of one delivery. */
export interface Expected {
  readonly fn: string
  /** Number of attempts that fail on purpose. */
  readonly failures: number
  readonly succeeds: boolean
}

/** Returns the deliveries that an event must have, if they depend only on the event. */
export const listExpected = ({ event_type, data }: StoredEvent): ReadonlyArray<Expected> => {
  const once = (fn: string): Expected => ({ fn, failures: 0, succeeds: true })
  switch (event_type) {
    case "chaos:plain":
      return [once("plain"), once("also")]
    case "chaos:grouped":
      return [once("grouped")]
    case "chaos:shown":
      return [once("shown")]
    case "chaos:flaky":
      return [{ fn: "flaky", failures: Number(data.failures), succeeds: true }]
    case "chaos:doomed":
      return [{ fn: "doomed", failures: attempts.doomed, succeeds: false }]
    case "chaos:flow":
      return [{ fn: "flow", failures: data.fails === true ? 1 : 0, succeeds: data.fails !== true }]
    case "svc:call":
      return [once(String(data.fn).replace("main/", ""))]
    case "svc:schedule":
      return [once(String(data.fn).replace("main/", ""))]
    default:
      return []
  }
}
