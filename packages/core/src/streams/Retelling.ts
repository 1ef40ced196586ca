/** What is told of stored events and runs to those who did not hear it when it happened. Pure. */
import type { Activity } from "../activity/Activity.ts"
import type { Event } from "../events/Event.ts"
import type { EnvId, RunId } from "../ids/Ids.ts"
import { type JsonText, toJsonText } from "../ids/JsonText.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Run, RunStatus } from "../runs/Run.ts"
import type { Happened, SinceQuery } from "./StreamStore.ts"

export interface StoredEvent extends Pick<Event, "event_id" | "stream_id" | "event_type" | "created_at"> {
  /** Whether nothing was in its stream before. */
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
  /** Of its result, in bytes of UTF-8; 0 without one. */
  readonly result_bytes: number
}

/** Something that has happened; the end of a run without its result yet. */
export interface Fact {
  readonly at: Timestamp
  /** Of what happened in the same millisecond; from `ofRuns` on, what runs have done. */
  readonly rank: number
  readonly id: string
  readonly result: { readonly run_id: RunId; readonly bytes: number } | null
  readonly tell: (result: JsonText) => Activity
}

const ofRuns = 2

/** In order of time; of more than is asked for, the latest. */
export const latestFacts = (
  envId: EnvId,
  events: ReadonlyArray<StoredEvent>,
  runs: ReadonlyArray<StoredRun>,
  { from, stream, limit, bytes }: SinceQuery
): ReadonlyArray<Fact> => {
  const facts = [
    ...events.flatMap((event) => ofEvent(envId, event)),
    ...runs.flatMap((run) => ofRun(envId, run))
  ].filter(({ at, rank }) => at >= from && (stream === null || rank >= ofRuns))
  facts.sort((a, b) => a.at - b.at || a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  let first = Math.max(0, facts.length - limit)
  let left = bytes
  for (let at = facts.length - 1; at >= first; at--) {
    left -= facts[at]?.result?.bytes ?? 0
    if (left < 0) first = at + 1
  }
  return facts.slice(first)
}

/** The facts with the results of their runs. An end whose result is gone is not told. */
export const retell = (facts: ReadonlyArray<Fact>, results: ReadonlyMap<RunId, JsonText>): ReadonlyArray<Happened> =>
  facts.flatMap(({ at, result, tell }) => {
    const text = result === null ? none : results.get(result.run_id)
    return text === undefined ? [] : [{ at, activity: tell(text) }]
  })

/** For those who have none. */
const none = toJsonText(null)

const ofEvent = (env_id: EnvId, { event_id, stream_id, event_type, created_at, begins }: StoredEvent): Array<Fact> => {
  const fact = { at: created_at, id: event_id, result: null }
  const created: Activity = { type: "event:created", env_id, event_id, stream_id, event_type }
  return [
    ...(begins ? [{ ...fact, rank: 0, tell: (): Activity => ({ type: "stream:created", env_id, stream_id }) }] : []),
    { ...fact, rank: 1, tell: () => created }
  ]
}

const endings: Readonly<Record<RunStatus, "run:stop" | "run:fail" | "run:cancel" | null>> = {
  running: null,
  succeeded: "run:stop",
  failed: "run:fail",
  cancelled: "run:cancel"
}

const ofRun = (env_id: EnvId, run: StoredRun): Array<Fact> => {
  const { run_id, stream_id, run_type, project_id, project_name, event_id, status, start_time, stop_time } = run
  const facts = { env_id, run_id, stream_id, run_type, project_id, project_name }
  const begun = { at: start_time, id: run_id, result: null }
  const told: Array<Fact> = [{ ...begun, rank: 2, tell: () => ({ type: "run:start", ...facts }) }]
  // Without an event, a run is the first of its stream.
  if (event_id === null) told.push({ ...begun, rank: 0, tell: () => ({ type: "stream:created", env_id, stream_id }) })
  const type = endings[status]
  if (type !== null && stop_time !== null) {
    const result = { run_id, bytes: run.result_bytes }
    told.push({ at: stop_time, id: run_id, rank: 3, result, tell: (text) => ({ type, ...facts, result: text }) })
  }
  return told
}
