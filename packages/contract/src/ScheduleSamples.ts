/** Sample schedules and ticks, the same in every run. */
import {
  type Admission,
  AdmissionStore,
  type Event,
  JsonText,
  type Manifest,
  noRetry,
  type Schedule,
  type ScheduleChange,
  type ScheduleEntry,
  ScheduleId,
  type Tick
} from "@weft/core/adapter"
import { Effect } from "effect"
import { at, delivery, emptyManifest, envId, event, eventId, projectId } from "./Samples.ts"

/** The id of a dynamic schedule, which is that of its event `n`. */
export const scheduleId = (n: number): ScheduleId => ScheduleId.make(eventId(n))

/** A dynamic schedule of project 1 in environment 1, due every second from `at(1000)` on. */
export const schedule = (n: number, fields: Partial<Schedule> = {}): Schedule => ({
  schedule_id: scheduleId(n),
  env_id: envId(1),
  project_id: projectId(1),
  kind: "dynamic",
  ns: "main",
  var: "tick",
  args: JsonText.make("[]"),
  cron: "* * * * * *",
  timezone: "UTC",
  next_at: at(1000),
  due_at: fields.next_at ?? at(1000),
  created_at: at(n),
  depth: 0,
  ...fields
})

/** An admission of event `n` with a change of schedules, published at `at(n)`. */
export const changing = (n: number, change: ScheduleChange, fields: Partial<Admission> = {}): Admission => {
  const env_id = change._tag === "Created" ? change.schedule.env_id : change.env_id
  return {
    event: event(n, { env_id, event_type: "svc:schedule:new" }),
    deliveries: [],
    request: null,
    schedule: change,
    now: at(n),
    until: at(n + 86_400_000),
    ...fields
  }
}

export const created = (of: Schedule, max = 10_000): ScheduleChange => ({ _tag: "Created", schedule: of, max })

/** Stores dynamic schedules, each with the event of its id. */
export const store = (...schedules: ReadonlyArray<Schedule>) =>
  AdmissionStore.use((admissions) =>
    Effect.forEach(
      schedules,
      (one) => {
        const admission = changing(1, created(one))
        return admissions.admit({ ...admission, event: { ...admission.event, event_id: toEventId(one) } })
      },
      { discard: true }
    )
  )

const toEventId = ({ schedule_id }: Schedule): Event["event_id"] => eventId(Number.parseInt(schedule_id.slice(-12), 16))

/** A tick of the schedule with event and delivery `n`. It advances the schedule to `at(next)`. */
export const tick = (of: Schedule, n: number, next: number | null = 2000): Tick => {
  const fired = event(n, { env_id: of.env_id, event_type: "svc:schedule" })
  const { project_id, ns, var: name } = of
  return {
    schedule: of,
    next: next === null ? null : { next_at: at(next), due_at: at(next) },
    fired: { event: fired, delivery: delivery(n, fired, { project_id, ns, var: name, run_type: "schedule" }) }
  }
}

/** A manifest with these schedules of functions `main/<var>`, with ids numbered from `first` on. */
export const scheduling = (
  first: number,
  ...schedules: ReadonlyArray<readonly [name: string, cron: string]>
): Manifest => ({
  ...emptyManifest,
  schedules: schedules.map(
    ([name, cron], index): ScheduleEntry => ({
      schedule_id: scheduleId(first + index),
      ns: "main",
      var: name,
      cron,
      timezone: "Europe/Oslo",
      retry: noRetry,
      timeout_ms: 300_000,
      concurrency: null,
      idempotency: null,
      durable: false
    })
  )
})
