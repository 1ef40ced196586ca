/** Changes of dynamic schedules by the events `svc:schedule:new` and `svc:schedule:cancel` (decisions 5.5). */
import { Effect, Result, type Schema } from "effect"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../../foundation/Errors.ts"
import { idReader, ScheduleId } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { Deployments, type Match } from "../../resources/builds/Deployments.ts"
import {
  type Cancelled,
  dynamicMax,
  type ScheduleChange,
  type ScheduleRefusal
} from "../../resources/schedules/Schedule.ts"
import { readTiming } from "../../resources/schedules/Timing.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readCall } from "./CallData.ts"
import type { Cause } from "./Cause.ts"
import type { Event } from "./Event.ts"

/** Maximum UTF-8 bytes of a schedule's arguments as JSON. They are stored with every tick. */
const argsBytesMax = 65_536

type SchedulePlan = (
  event: Pick<Event, "event_id" | "created_at"> & Pick<Cause, "depth">,
  data: Schema.Json
) => Effect.Effect<ScheduleChange, BadRequest | Forbidden | StoreUnavailable, Caller>

/** Finds the function of a reference, if the caller may call it. */
type FindCallee = (
  reference: string,
  field: string
) => Effect.Effect<Match, BadRequest | Forbidden | StoreUnavailable, Caller>

/**
 * Returns a plan for `{fn, args?, schedule, timezone?}`; `timezone` applies to a cron expression. The schedule's id is
 * the event's.
 */
export const planSchedule = (findCallee: FindCallee): SchedulePlan =>
  Effect.fnUntraced(function* ({ event_id, created_at, depth }, data) {
    const { env_id } = yield* requirePermission("call", [], "create")
    const { fn, fields } = yield* readCall(data)
    const args = toJsonText(fields.get("args") ?? [])
    if (utf8Length(args) > argsBytesMax)
      return yield* badRequest(`event_data.args must be at most ${argsBytesMax} bytes of JSON`)
    const schedule = fields.get("schedule")
    if (typeof schedule !== "string") return yield* badRequest("event_data.schedule must be a string")
    const timezone = fields.get("timezone") ?? "UTC"
    if (typeof timezone !== "string") return yield* badRequest("event_data.timezone must be the name of a time zone")
    const timing = readTiming(schedule, timezone, created_at)
    if (Result.isFailure(timing)) return yield* badRequest(`event_data.schedule ${timing.failure}`)
    const { build, handler } = yield* findCallee(fn, "event_data.fn")
    return {
      _tag: "Created",
      max: dynamicMax,
      schedule: {
        schedule_id: ScheduleId.make(event_id),
        env_id,
        project_id: build.project_id,
        kind: "dynamic",
        ns: handler.ns,
        var: handler.var,
        args,
        ...timing.success,
        due_at: timing.success.next_at,
        created_at,
        depth
      }
    }
  })

/** Plan for `{"schedule-id"}`, or `{fn}` for all schedules of a function. */
export const planCancel: Effect.Effect<SchedulePlan, never, Deployments> = Effect.map(Deployments, (deployments) =>
  Effect.fnUntraced(function* (_, data) {
    const { env_id } = yield* requirePermission("event", "svc:schedule:cancel", "create")
    const fields = new Map<string, unknown>(isObject(data) ? Object.entries(data) : [])
    const id = fields.get("schedule-id")
    const fn = fields.get("fn")
    if ((id === undefined) === (fn === undefined)) {
      return yield* badRequest('event_data must be an object with either "schedule-id" or fn')
    }
    const toCancelled = (by: Cancelled): ScheduleChange => ({ _tag: "Cancelled", env_id, by })
    if (id !== undefined) {
      const schedule_id = readScheduleId(id)
      return schedule_id === null
        ? yield* badRequest('event_data["schedule-id"] must be a UUID')
        : toCancelled({ schedule_id })
    }
    if (typeof fn !== "string") return yield* badRequest("event_data.fn must be a function reference such as ns/var")
    const [found, ...others] = (yield* deployments.of(env_id)).functions(fn)
    if (found === undefined) return yield* badRequest(describeRefusal("none"))
    if (others.length > 0) return yield* badRequest("event_data.fn is ambiguous: write project:ns/var")
    const { project_id } = found.build
    return toCancelled({ project_id, ns: found.handler.ns, var: found.handler.var })
  })
)

/** Returns the error message for the publisher of the event. */
export const describeRefusal = (refusal: ScheduleRefusal): string =>
  refusal === "none"
    ? "event_data: there is no such schedule"
    : `event_data: the environment has ${dynamicMax} dynamic schedules, the maximum; cancel one first`

const isObject = (data: Schema.Json): data is Schema.JsonObject =>
  typeof data === "object" && data !== null && !Array.isArray(data)

const readScheduleId = idReader(ScheduleId)

const badRequest = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
