/**
 * Plans of system events, whose types have the reserved prefix `svc:` (decisions 5.5). They are published like others.
 *
 * A system event reaches the function that its data names. It reaches no handler, not even one for all types.
 */
import { Context, Effect, Layer, type Schema } from "effect"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { CanarySubject } from "../../resources/builds/Canary.ts"
import { assignTo, Deployments, type Match } from "../../resources/builds/Deployments.ts"
import type { ScheduleChange } from "../../resources/schedules/Schedule.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readCall } from "./CallData.ts"
import type { Cause } from "./Cause.ts"
import type { Event } from "./Event.ts"
import { toSubject } from "./EventExpressions.ts"
import { planCancel, planSchedule } from "./ScheduleEvents.ts"

/** Effects of a system event. */
export interface SystemPlan {
  readonly matches: ReadonlyArray<Match>
  /** Change of schedules. If it is refused, the event is not stored. */
  readonly schedule: ScheduleChange | null
}

/** The fields of an event that a plan needs in addition to its data. */
type PlannedEvent = Event & Pick<Cause, "depth">

type Planned = Effect.Effect<SystemPlan, BadRequest | Forbidden | StoreUnavailable, Caller>

/** True if `SystemEvents` plans events of the type. */
export const isSystemType = (type: string): boolean => type.startsWith("svc:")

/** Form of function references. Invalid text is not quoted in errors, because it may contain anything. */
const referenceForm = /^(?:[^\s:/]+:)?[\w$]+\/[\w$]+$/
const mustBeReference = "must be the name of a function, such as main/send or project:main/send"

export class SystemEvents extends Context.Service<
  SystemEvents,
  {
    /**
     * Returns the plan for an event of a reserved type. Fails with `BadRequest` for a type that cannot be published,
     * invalid data, and a function that is unknown or ambiguous. Requires `call: create` on the function, except to
     * cancel its schedules. The publisher checks `event: create`.
     */
    readonly plan: (event: PlannedEvent, data: Schema.Json) => Planned
    /**
     * Returns the function of a reference: `ns/var`, or `project:ns/var` to choose among projects. Requires
     * `call: create` on one of its names. Errors name `field`. With `subject`, a canary may get the call.
     */
    readonly findCallee: (
      reference: string,
      field: string,
      subject?: () => CanarySubject
    ) => Effect.Effect<Match, BadRequest | Forbidden | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/events/SystemEvents") {
  static readonly layer = Layer.effect(
    SystemEvents,
    Effect.gen(function* () {
      const deployments = yield* Deployments

      const findCallee = Effect.fnUntraced(function* (reference: string, field: string, subject?: () => CanarySubject) {
        const { env_id } = yield* requirePermission("call", [], "create")
        const deployed = yield* deployments.of(env_id)
        const found = (subject === undefined ? deployed : assignTo(deployed, subject)).functions(reference)
        // A caller without the permission must not learn whether the function exists.
        yield* requirePermission("call", [reference, ...found.flatMap(listCallNames)], "create")
        const [match, ...others] = found
        if (match === undefined && !referenceForm.test(reference))
          return yield* badRequest(`${field} ${mustBeReference}`)
        if (match === undefined) return yield* badRequest(`${field}: there is no function of this name`)
        if (others.length === 0) return match
        const projects = found.map(({ build }) => build.project_name).join(", ")
        return yield* badRequest(`${field} is ambiguous: write project:ns/var for one of the projects ${projects}`)
      })

      const call = Effect.fnUntraced(function* (event: PlannedEvent, data: Schema.Json) {
        yield* requirePermission("call", [], "create")
        const { fn } = yield* readCall(data)
        return { matches: [yield* findCallee(fn, "event_data.fn", () => toSubject(event))], schedule: null }
      })
      const toSystemPlan = (schedule: ScheduleChange): SystemPlan => ({ matches: [], schedule })
      const schedule = planSchedule(findCallee)
      const cancel = yield* planCancel

      const plans: ReadonlyMap<string, (event: PlannedEvent, data: Schema.Json) => Planned> = new Map([
        ["svc:call", call],
        ["svc:schedule:new", (event, data) => Effect.map(schedule(event, data), toSystemPlan)],
        ["svc:schedule:cancel", (event, data) => Effect.map(cancel(event, data), toSystemPlan)]
      ])

      return SystemEvents.of({
        findCallee,
        plan: (event, data) =>
          plans.get(event.event_type)?.(event, data) ??
          badRequest("event_type: the prefix svc: is reserved for system events")
      })
    })
  )
}

/** Returns the names by which permissions grant calls of a function. */
const listCallNames = ({ build, handler }: Pick<Match, "build" | "handler">): ReadonlyArray<string> => {
  const name = `${handler.ns}/${handler.var}`
  return [name, `${build.project_name}:${name}`]
}

const badRequest = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
