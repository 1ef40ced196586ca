/** `svc.schedules`: publishes events of reserved types on the stream of the run. */
import { Effect, Schema } from "effect"
import { BadRequest } from "../../../foundation/Errors.ts"
import { Events } from "../../events/Events.ts"
import { GuestJson } from "../GuestFace.ts"
import { type CallingRun, ofEnvironment, operation } from "../Operation.ts"

const publisher = Effect.map(
  Events,
  (events) => (run: CallingRun, type: string, data: Schema.Json) =>
    events.publish({ type, data, stream_id: run.stream_id, causedBy: run })
)

export const schedulesCreate = operation({
  name: "schedules.create",
  input: Schema.Struct({
    fn: Schema.String.annotate({ description: "`ns/var`, or `project:ns/var`." }),
    args: Schema.optionalKey(Schema.Array(GuestJson)),
    schedule: Schema.String.annotate({
      description: "A cron expression, or for one run an ISO 8601 timestamp or a duration."
    }),
    timezone: Schema.optionalKey(
      Schema.String.annotate({ description: "Time zone of a cron expression; UTC by default." })
    )
  }),
  output: Schema.Struct({ schedule_id: Schema.String }),
  permission: ofEnvironment,
  span: "internal",
  guest: {
    doc: "Creates a schedule of a function.",
    parameters: { object: "schedule" },
    takes: "an object with fn, args and schedule",
    types: { input: "NewSchedule" }
  },
  needs: publisher,
  handler: (publish) => (run, input) =>
    Effect.map(publish(run, "svc:schedule:new", input), ({ event_id }) => ({ schedule_id: event_id }))
})

export const schedulesCancel = operation({
  name: "schedules.cancel",
  input: Schema.Struct({ id: Schema.optionalKey(Schema.String), fn: Schema.optionalKey(Schema.String) }),
  output: Schema.Void,
  permission: ofEnvironment,
  span: "internal",
  guest: {
    doc: "Cancels one schedule, or all that were created for a function.",
    parameters: { object: "schedule" },
    takes: "an object with id or fn",
    signature: "(schedule: { readonly id: string } | { readonly fn: string })"
  },
  needs: publisher,
  handler:
    (publish) =>
    (run, { id, fn }) =>
      (id === undefined) === (fn === undefined)
        ? Effect.fail(new BadRequest({ reason: "svc.schedules.cancel takes an object with either id or fn" }))
        : Effect.asVoid(
            publish(run, "svc:schedule:cancel", id === undefined ? { fn: fn ?? "" } : { "schedule-id": id })
          )
})
