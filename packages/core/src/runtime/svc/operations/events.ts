/** `svc.events`: publishes events. */
import { Effect, Schema } from "effect"
import { Events } from "../../events/Events.ts"
import { GuestJson } from "../GuestFace.ts"
import { ofEnvironment, operation } from "../Operation.ts"

export const eventsPublish = operation({
  name: "events.publish",
  input: Schema.Struct({
    type: Schema.String,
    data: GuestJson,
    stream_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
    delay: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))
  }),
  output: Schema.Struct({ event_id: Schema.String, stream_id: Schema.String, event_type: Schema.String }),
  permission: ofEnvironment,
  span: "internal",
  guest: {
    doc: "Publishes an event, which is stored when the promise resolves.",
    parameters: { object: "event" },
    takes: "an object with type and data",
    signature: "(event: NewEvent<Events>)",
    types: { output: "Published" }
  },
  needs: Events,
  handler:
    (events) =>
    (run, { type, data, stream_id, delay = null }) =>
      Effect.map(
        events.publish({
          type,
          data,
          causedBy: run,
          ...(typeof stream_id === "string" ? { stream_id } : {}),
          ...(delay === null ? {} : { delay })
        }),
        (event) => ({ event_id: event.event_id, stream_id: event.stream_id, event_type: event.event_type })
      )
})
