/** `svc.stream`: sends messages to the current subscribers of the run's stream. They are not stored. */
import { Schema } from "effect"
import { toJsonText } from "../../../foundation/JsonText.ts"
import { ClusterBus } from "../../../platform/cluster/ClusterBus.ts"
import { runActivity } from "../../runs/Activity.ts"
import { GuestJson } from "../GuestFace.ts"
import { ofRun, operation } from "../Operation.ts"

/** Maximum messages of a run at once, and per second after that: half of a subscriber's queue. */
const rate = { burst: 500, perSecond: 500 }

export const streamEmit = operation({
  name: "stream.emit",
  input: Schema.Struct({
    data_type: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256)),
    payload: GuestJson
  }),
  output: Schema.Void,
  permission: ofRun,
  limits: {
    size: { of: ({ payload }) => toJsonText(payload), max: 64 * 1024 },
    rate: { ...rate, message: `A run may emit ${rate.perSecond} messages in a second` }
  },
  errors: { invalid: "BadRequest" },
  span: "internal",
  guest: {
    doc: "Sends a message of at most 64 KiB JSON to the current subscribers of the run's stream. It is not stored.",
    parameters: [
      { name: "data_type", is: "string" },
      { name: "payload", is: "value" }
    ],
    takes: "a string, the type of the data, and the payload"
  },
  needs: ClusterBus,
  handler:
    (bus) =>
    (run, { data_type }, _, payload) =>
      bus.publish([runActivity(run, { type: "stream:data", data_type, payload })])
})
