/** `svc.call`: runs a function in the background. */
import { Effect, Schema } from "effect"
import { Events } from "../../events/Events.ts"
import { GuestJson } from "../GuestFace.ts"
import { ofEnvironment, operation } from "../Operation.ts"

export const call = operation({
  name: "call",
  input: Schema.Struct({ fn: Schema.String, args: Schema.optionalKey(Schema.Array(GuestJson)) }),
  output: Schema.Struct({ event_id: Schema.String, stream_id: Schema.String }),
  permission: ofEnvironment,
  span: "internal",
  guest: {
    doc: `Runs a function in the background. The call is stored when the promise resolves. The type of the function checks its
arguments: \`svc.call<typeof charge>("billing/charge", [order])\`.`,
    parameters: [
      { name: "fn", is: "string" },
      { name: "args", is: "arguments" }
    ],
    takes: "a string, the function, and its args",
    signature: "<F extends AnyFunction = AnyFunction>(fn: string, args?: ArgsOf<F>)"
  },
  needs: Events,
  handler:
    (events) =>
    (run, { fn, args = [] }) =>
      Effect.map(
        // On the run's stream, so that its subscribers see background jobs.
        events.publish({ type: "svc:call", data: { fn, args }, stream_id: run.stream_id, causedBy: run }),
        ({ event_id, stream_id }) => ({ event_id, stream_id })
      )
})
