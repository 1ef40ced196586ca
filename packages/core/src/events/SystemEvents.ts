/**
 * What events of the reserved types do (decisions 5.5). They are published like any other, over HTTP or in code.
 *
 * A system event reaches the function that its data names, and no handlers: not even those of all types.
 */
import { Context, Effect, Layer, type Schema } from "effect"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { Deployments, type Match } from "../builds/Deployments.ts"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../errors/Errors.ts"
import type { ScheduleChange } from "../schedules/Schedule.ts"
import { readCall } from "./CallData.ts"
import type { Event } from "./Event.ts"
import { planCancel, planSchedule } from "./ScheduleEvents.ts"

/** What is to happen because of a system event. */
export interface SystemPlan {
  readonly matches: ReadonlyArray<Match>
  /** To be made with the event, or the event is not stored either. */
  readonly schedule: ScheduleChange | null
}

/** What a plan needs to know of an event beside its data. */
type Occasion = Pick<Event, "event_id" | "event_type" | "created_at">

type Planned = Effect.Effect<SystemPlan, BadRequest | Forbidden | StoreUnavailable, Caller>

/** Whether `SystemEvents` decides what an event of the type does. */
export const isSystemType = (type: string): boolean => type.startsWith("svc:")

/** What is none is not repeated: it may be anything that somebody put there by mistake. */
const referenceForm = /^(?:[^\s:/]+:)?[\w$]+\/[\w$]+$/
const mustBeReference = "must be the name of a function, such as main/send or project:main/send"

export class SystemEvents extends Context.Service<
  SystemEvents,
  {
    /**
     * The plan for an event of a reserved type. `BadRequest` for a type that cannot be published, data of another
     * shape, and a function that is unknown or ambiguous. Needs `call: create` on the function, but not to cancel its
     * schedules; `event: create` is the publisher's business.
     */
    readonly plan: (event: Occasion, data: Schema.Json) => Planned
    /**
     * The function that a reference means: `ns/var`, or `project:ns/var` to choose among projects. Needs
     * `call: create` on one of its names. `field` says in errors where the reference stood.
     */
    readonly callee: (
      reference: string,
      field: string
    ) => Effect.Effect<Match, BadRequest | Forbidden | StoreUnavailable, Caller>
  }
>()("@weft/core/events/SystemEvents") {
  static readonly layer = Layer.effect(
    SystemEvents,
    Effect.gen(function* () {
      const deployments = yield* Deployments

      const callee = Effect.fnUntraced(function* (reference: string, field: string) {
        const { env_id } = yield* requirePermission("call", [], "create")
        const found = (yield* deployments.of(env_id)).functions(reference)
        // Who may not call the function does not learn whether there is one.
        yield* requirePermission("call", [reference, ...found.flatMap(callNames)], "create")
        const [match, ...others] = found
        if (match === undefined && !referenceForm.test(reference)) return yield* bad(`${field} ${mustBeReference}`)
        if (match === undefined) return yield* bad(`${field}: there is no function of this name`)
        if (others.length === 0) return match
        const projects = found.map(({ build }) => build.project_name).join(", ")
        return yield* bad(`${field} is ambiguous: write project:ns/var for one of the projects ${projects}`)
      })

      const call = Effect.fnUntraced(function* (data: Schema.Json) {
        yield* requirePermission("call", [], "create")
        const { fn } = yield* readCall(data)
        return { matches: [yield* callee(fn, "event_data.fn")], schedule: null }
      })
      const ofSchedules = (schedule: ScheduleChange): SystemPlan => ({ matches: [], schedule })
      const schedule = planSchedule(callee)
      const cancel = yield* planCancel

      const plans: ReadonlyMap<string, (event: Occasion, data: Schema.Json) => Planned> = new Map([
        ["svc:call", (_, data) => call(data)],
        ["svc:schedule:new", (event, data) => Effect.map(schedule(event, data), ofSchedules)],
        ["svc:schedule:cancel", (event, data) => Effect.map(cancel(event, data), ofSchedules)]
      ])

      return SystemEvents.of({
        callee,
        plan: (event, data) =>
          plans.get(event.event_type)?.(event, data) ?? bad("event_type: the prefix svc: is reserved for system events")
      })
    })
  )
}

/** The names by which a permission may grant calls of a function. */
const callNames = ({ build, handler }: Pick<Match, "build" | "handler">): ReadonlyArray<string> => {
  const name = `${handler.ns}/${handler.var}`
  return [name, `${build.project_name}:${name}`]
}

const bad = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
