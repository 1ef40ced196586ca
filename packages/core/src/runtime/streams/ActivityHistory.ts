/** Converts stored events and runs to the activity that a subscriber missed. Pure. */

import type { EnvId, RunId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import type { Event } from "../events/Event.ts"
import { endTypes, eventActivity, runActivity, streamCreated } from "../runs/Activity.ts"
import type { Run } from "../runs/Run.ts"
import type { SinceQuery, StoredActivity } from "./StreamStore.ts"

export interface StoredEvent extends Pick<Event, "event_id" | "stream_id" | "event_type" | "created_at"> {
  /** True if it is the first of its stream. */
  readonly begins: boolean
}

export interface StoredRun
  extends Pick<
    Run,
    | "run_id"
    | "stream_id"
    | "run_type"
    | "project_id"
    | "project_name"
    | "event_id"
    | "status"
    | "start_time"
    | "stop_time"
  > {
  /** Size of its result in bytes of UTF-8; 0 without a result. */
  readonly result_bytes: number
}

/** One past activity. That of an ended run lacks its result, which is read later. */
export interface HistoryEntry {
  readonly at: Timestamp
  /** Order within the same millisecond. Activity of runs has `runRank` or more. */
  readonly rank: number
  readonly id: string
  /** Run and size of the result that `build` needs; null if it needs no result. */
  readonly result: { readonly run_id: RunId; readonly bytes: number } | null
  readonly build: (result: JsonText) => ActivityEvent
}

const runRank = 2

/** Returns the latest entries within the limits of the query, in order of time. */
export const latestEntries = (
  envId: EnvId,
  events: ReadonlyArray<StoredEvent>,
  runs: ReadonlyArray<StoredRun>,
  { from, stream, limit, bytes }: SinceQuery
): ReadonlyArray<HistoryEntry> => {
  const entries = [
    ...events.flatMap((event) => eventEntries(envId, event)),
    ...runs.flatMap((run) => runEntries(envId, run))
  ].filter(({ at, rank }) => at >= from && (stream === null || rank >= runRank))
  entries.sort((a, b) => a.at - b.at || a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  let first = Math.max(0, entries.length - limit)
  let bytesLeft = bytes
  for (let at = entries.length - 1; at >= first; at--) {
    bytesLeft -= entries[at]?.result?.bytes ?? 0
    if (bytesLeft < 0) first = at + 1
  }
  return entries.slice(first)
}

/** Adds the results to the entries. Leaves out the end of a run whose result was deleted. */
export const toActivity = (
  entries: ReadonlyArray<HistoryEntry>,
  results: ReadonlyMap<RunId, JsonText>
): ReadonlyArray<StoredActivity> =>
  entries.flatMap(({ at, result, build }) => {
    const text = result === null ? noResult : results.get(result.run_id)
    return text === undefined ? [] : [{ at, activity: build(text) }]
  })

/** Argument of `build` for entries without a result. */
const noResult = toJsonText(null)

const eventEntries = (
  env_id: EnvId,
  { event_id, stream_id, event_type, created_at, begins }: StoredEvent
): Array<HistoryEntry> => {
  const event = { env_id, event_id, stream_id, event_type }
  const entry = { at: created_at, id: event_id, result: null }
  return [
    ...(begins ? [{ ...entry, rank: 0, build: () => streamCreated(event) }] : []),
    { ...entry, rank: 1, build: () => eventActivity("event:created", event) }
  ]
}

const runEntries = (env_id: EnvId, stored: StoredRun): Array<HistoryEntry> => {
  const { run_id, event_id, status, start_time, stop_time } = stored
  const run = { ...stored, env_id }
  const start = { at: start_time, id: run_id, result: null }
  const entries: Array<HistoryEntry> = [{ ...start, rank: 2, build: () => runActivity(run, { type: "run:start" }) }]
  // Without an event, a run is the first of its stream.
  if (event_id === null) entries.push({ ...start, rank: 0, build: () => streamCreated(run) })
  if (status !== "running" && stop_time !== null) {
    const type = endTypes[status]
    const result = { run_id, bytes: stored.result_bytes }
    entries.push({
      at: stop_time,
      id: run_id,
      rank: 3,
      result,
      build: (text) => runActivity(run, { type, result: text })
    })
  }
  return entries
}
