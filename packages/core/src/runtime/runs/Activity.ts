/** Activity of events and runs: the only place that makes an `ActivityEvent`, identifies and measures one. Pure. */
import type { JsonText } from "../../foundation/JsonText.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import type { Event } from "../events/Event.ts"
import type { Run, RunStatus } from "./Run.ts"
import type { StepRecord } from "./Workflow.ts"

export type RunIdentity = Pick<Run, "env_id" | "run_id" | "stream_id" | "run_type" | "project_id" | "project_name">

/** A change of a run: its start, a result, its suspension, its end with the result, or data that its code emits. */
export type RunChange =
  | { readonly type: "run:start" }
  | { readonly type: "run:stop" | "run:fail" | "run:cancel"; readonly result: JsonText }
  | { readonly type: "run:step"; readonly step: StepRecord }
  | { readonly type: "run:waiting"; readonly waiting: JsonText }
  | { readonly type: "stream:data"; readonly data_type: string; readonly payload: JsonText }

/** Returns the activity of a change of a run. */
export const runActivity = (run: RunIdentity, change: RunChange): ActivityEvent => {
  const { env_id, run_id, stream_id, run_type, project_id, project_name } = run
  const identity = { env_id, run_id, stream_id, run_type, project_id, project_name }
  switch (change.type) {
    case "run:start":
      return { type: change.type, ...identity }
    case "run:step": {
      const { position, kind, name, ok, attempts, started_at, ended_at } = change.step
      return { type: change.type, ...identity, position, kind, name, ok, attempts, ms: ended_at - started_at }
    }
    case "run:waiting":
      return { type: change.type, ...identity, waiting: change.waiting }
    case "stream:data":
      return { type: change.type, ...identity, data_type: change.data_type, payload: change.payload }
    default:
      return { type: change.type, ...identity, result: change.result }
  }
}

/** Activity types of ended runs. */
export const endTypes = {
  succeeded: "run:stop",
  failed: "run:fail",
  cancelled: "run:cancel"
} as const satisfies Record<Exclude<RunStatus, "running">, RunChange["type"]>

/** Returns the activity of a run's latest change: its end, or its start while it runs. */
export const latestActivity = (run: Run): ActivityEvent =>
  runActivity(
    run,
    run.status === "running" || run.result === null
      ? { type: "run:start" }
      : { type: endTypes[run.status], result: run.result }
  )

/** Returns the activity of a run that was lost with its node: its end, or the suspension of a durable run. */
export const lostActivity = (run: Run): ActivityEvent =>
  run.status === "running" && run.waiting !== null
    ? runActivity(run, { type: "run:waiting", waiting: run.waiting })
    : latestActivity(run)

/** Returns the activity of the start of a run. Without an event, the run is the first of its stream. */
export const startActivity = (run: RunIdentity & Pick<Run, "event_id">): ReadonlyArray<ActivityEvent> => {
  const start = runActivity(run, { type: "run:start" })
  return run.event_id === null ? [streamCreated(run), start] : [start]
}

/** Progress of a durable run. */
interface Progress {
  readonly run: RunIdentity
  readonly steps: ReadonlyArray<StepRecord>
  readonly suspension: { readonly waiting: JsonText } | null
}

/** Returns the activity of the progress of a durable run: its new results, and its suspension. */
export const progressActivity = ({ run, steps, suspension }: Progress): ReadonlyArray<ActivityEvent> => [
  ...steps.map((step) => runActivity(run, { type: "run:step", step })),
  ...(suspension === null ? [] : [runActivity(run, { type: "run:waiting", waiting: suspension.waiting })])
]

type EventIdentity = Pick<Event, "env_id" | "event_id" | "stream_id" | "event_type">

/** Returns the activity of a published event. */
export const publicationActivity = (event: EventIdentity, beginsStream: boolean): ReadonlyArray<ActivityEvent> => {
  const created = eventActivity("event:created", event)
  return beginsStream ? [streamCreated(event), created] : [created]
}

export const eventActivity = (
  type: "event:created" | "event:handled",
  { env_id, event_id, stream_id, event_type }: EventIdentity
): ActivityEvent => ({ type, env_id, event_id, stream_id, event_type })

export const streamCreated = ({ env_id, stream_id }: Pick<Event, "env_id" | "stream_id">): ActivityEvent => ({
  type: "stream:created",
  env_id,
  stream_id
})

/** Returns the key that identifies an activity on the bus and in the store; null if it is not stored. */
export const activityKey = (activity: ActivityEvent): string | null => {
  switch (activity.type) {
    case "stream:data":
    case "run:step":
    case "run:waiting":
      return null
    case "stream:created":
      return `${activity.type} ${activity.stream_id}`
    case "event:created":
    case "event:handled":
      return `${activity.type} ${activity.event_id}`
    default:
      return `${activity.type} ${activity.run_id}`
  }
}

/** Returns the approximate size of an activity in memory, in bytes: twice its text, which stays cached once encoded. */
export const activityBytes = (activity: ActivityEvent): number => {
  switch (activity.type) {
    case "run:stop":
    case "run:fail":
    case "run:cancel":
      return baseBytes + 2 * activity.result.length
    case "run:step":
      return baseBytes + 2 * activity.name.length
    case "run:waiting":
      return baseBytes + 2 * activity.waiting.length
    case "stream:data":
      return baseBytes + 2 * (activity.data_type.length + activity.payload.length)
    default:
      return baseBytes
  }
}

const baseBytes = 512
