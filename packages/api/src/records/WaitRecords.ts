/** Records of pending deliveries and their waits, an extension of the specification. */
import { Delivery, Event, Wait } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, instant } from "./Wire.ts"

/** Why something waits. */
const WaitRecord = Schema.Struct({
  reason: example(Wait.fields.reason, "group").annotate({
    description:
      "`slot`: due, and no node has claimed it. `group`: its concurrency key is at its limit. `throttle`, `debounce`: flow control. `batch`: further events may join it. `delay`: published for later. `retry`: the pause before the next attempt. `timer`, `event`, `token`, `run`: a durable run, or the next tick of a schedule. `node`: its node is down. `plan`: the plan allows no more runs. `paused`: its function, project or environment is paused"
  }),
  since: Instant,
  until: Schema.NullOr(instant("2026-02-03T12:00:00.000Z")).annotate({
    description: "End of the wait; null if something else ends it"
  }),
  detail: Wait.fields.detail.annotate({
    description:
      "Key of the group or throttle, or name of the timer, step, event, token or run. Of a batch the number of its events, of a pause its credential. Null for other reasons",
    examples: ["main/onOrder#1042"]
  })
}).annotate({ identifier: "Wait" })

export const DeliveryRecord = Schema.Struct({
  ...Struct.pick(Delivery.fields, ["delivery_id", "event_id"]),
  event_type: example(Event.fields.event_type, "order:created"),
  ...Struct.pick(Delivery.fields, ["project_id"]),
  project_name: example(Delivery.fields.project_name, "orders"),
  ns: example(Delivery.fields.ns, "main"),
  var: example(Delivery.fields.var, "onOrder"),
  attempt: Delivery.fields.attempt,
  continues: Delivery.fields.continues.annotate({
    description: "The suspended run that it continues; null for others"
  }),
  created_at: Instant,
  waiting: WaitRecord
}).annotate({ identifier: "Delivery" })

export const WaitingItemRecord = Schema.Struct({
  object: example(Schema.Literals(["delivery", "run", "schedule"]), "delivery"),
  id: example(Schema.String, "01970d40-1e50-7c37-ad4a-7e5b2c8f6408"),
  project_id: example(Schema.String, "01970d3c-7b20-7a63-b5cc-6de2c9a1f403"),
  ns: example(Schema.String, "main"),
  var: example(Schema.String, "onOrder"),
  waiting: WaitRecord
}).annotate({ identifier: "WaitingItem" })
