/** What the database says in the end, as the checks want it. */
import { attempts } from "./Guest.ts"
import type { Question, Row } from "./Question.ts"

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
  /** Of a run that succeeded. */
  readonly result: Readonly<Record<string, unknown>>
  /** Name and message of the error of a run that failed. */
  readonly error: string | null
}

export interface Evidence {
  readonly events: ReadonlyMap<string, StoredEvent>
  readonly runs: ReadonlyArray<StoredRun>
  readonly runsOfEvent: ReadonlyMap<string, ReadonlyArray<StoredRun>>
}

const objectIn = (text: unknown): Readonly<Record<string, unknown>> => {
  const value: unknown = typeof text === "string" ? JSON.parse(text) : null
  return typeof value === "object" && value !== null ? { ...value } : {}
}

const toEvent = (row: Row): StoredEvent => ({
  event_id: String(row.event_id),
  event_type: String(row.event_type),
  data: objectIn(row.event_data),
  created_at: Number(row.created_at)
})

const toRun = (row: Row): StoredRun => {
  const result = objectIn(row.result)
  const { name, message } = objectIn(JSON.stringify(result.error ?? null))
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

const portion = 20_000

/** What is looked at: of the environment, or of all where it is null, with ids between these. */
export interface Extent {
  readonly envId: string | null
  readonly after: string
  readonly before: string
}

/** No id is after a text that begins so. */
const everything: Extent = { envId: null, after: "", before: "g" }

const readAll = async <A>(
  ask: Question,
  { envId, after, before }: Extent,
  table: string,
  id: string,
  columns: string,
  read: (row: Row) => A
): Promise<Array<A>> => {
  const all: Array<A> = []
  for (let last = after; ; ) {
    const text = `SELECT ${columns} FROM ${table} WHERE ${id} > $1 AND ${id} < $2
      ${envId === null ? "" : "AND env_id = $3"} ORDER BY ${id} LIMIT ${portion}`
    const rows = await ask(text, envId === null ? [last, before] : [last, before, envId])
    for (const row of rows) all.push(read(row))
    if (rows.length < portion) return all
    last = String(rows.at(-1)?.[id])
  }
}

export const gather = async (ask: Question, extent: Extent = everything): Promise<Evidence> => {
  const events = await readAll(
    ask,
    extent,
    "events",
    "event_id",
    "event_id, event_type, event_data, created_at",
    toEvent
  )
  const columns = "run_id, event_id, var, run_type, status, attempt, start_time, stop_time, result"
  const runs = await readAll(ask, extent, "runs", "run_id", columns, toRun)
  const ofEvents = runs.filter((run) => run.event_id !== null)
  return {
    events: new Map(events.map((event) => [event.event_id, event])),
    runs,
    runsOfEvent: Map.groupBy(ofEvents, (run) => run.event_id ?? "")
  }
}

/**
 * Runs under way of what was begun before `$1`. One that was lost with its node and taken up late began after that, but
 * its event did not.
 */
export const stillRunning = `status = 'running' AND (start_time <= $1::bigint
  OR EXISTS (SELECT 1 FROM events e WHERE e.env_id = runs.env_id AND e.event_id = runs.event_id AND e.created_at <= $1::bigint))`

/** How the runs of one delivery must have ended. */
export interface Expected {
  readonly fn: string
  /** Attempts that the function itself lets fail. */
  readonly failures: number
  readonly succeeds: boolean
}

/** Of events whose deliveries depend on nothing but them. */
export const expectedOf = ({ event_type, data }: StoredEvent): ReadonlyArray<Expected> => {
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
    case "svc:call":
      return [once("called")]
    case "svc:schedule":
      return [once(String(data.fn).replace("main/", ""))]
    default:
      return []
  }
}
