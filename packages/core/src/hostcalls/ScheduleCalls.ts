/** What `svc.schedules` asks for: events of the reserved types, on the stream of the run. */
import { Effect, Schema } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import { BadRequest } from "../errors/Errors.ts"
import { Events } from "../events/Events.ts"
import type { Run } from "../runs/Run.ts"
import { type GuestOperation, guestOperation } from "./GuestOperation.ts"

/** By the name of the call. */
export type ScheduleCalls = ReadonlyMap<string, GuestOperation<Run>>

const NewSchedule = Schema.Struct({
  fn: Schema.String,
  args: Schema.optionalKey(Schema.Array(Schema.Json)),
  schedule: Schema.String,
  timezone: Schema.optionalKey(Schema.String)
})

const Unwanted = Schema.Struct({ id: Schema.optionalKey(Schema.String), fn: Schema.optionalKey(Schema.String) })

export const makeScheduleCalls: Effect.Effect<ScheduleCalls, never, Events> = Effect.map(Events, (events) => {
  const publish = (run: Run, type: string, data: Schema.Json) =>
    Effect.provideService(
      events.publish({ type, data, stream_id: run.stream_id, causedBy: run.run_id }),
      Caller,
      hostIdentity(run.env_id)
    )

  return new Map([
    [
      "schedules.create",
      guestOperation(NewSchedule, (run: Run, input) =>
        Effect.map(publish(run, "svc:schedule:new", input), ({ event_id }) => JSON.stringify({ schedule_id: event_id }))
      )
    ],
    [
      "schedules.cancel",
      guestOperation(Unwanted, (run: Run, { id, fn }) =>
        (id === undefined) === (fn === undefined)
          ? Effect.fail(new BadRequest({ reason: "svc.schedules.cancel takes an object with either id or fn" }))
          : Effect.as(
              publish(run, "svc:schedule:cancel", id === undefined ? { fn: fn ?? "" } : { "schedule-id": id }),
              "null"
            )
      )
    ]
  ])
})
