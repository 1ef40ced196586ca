/**
 * What guest code may ask of its host: the table of host calls.
 *
 * To add one: a row here (operation, payload schema, the service call behind it) and its face in the sandbox's
 * `svc`. A call acts with the permissions of the run's environment, checked by the same services as everything
 * else; its payload is hostile until its schema has read it.
 */
import { Effect, Schema } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import { Events } from "../events/Events.ts"
import { type HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import type { Run } from "./Run.ts"

/** A row: decodes the payload, acts for `run`, answers JSON. */
type Operation = (run: Run, payload: string) => Effect.Effect<Schema.Json, HostCallRefused, Caller>

export type HostCallHandler = (run: Run, call: HostCall) => Effect.Effect<string, HostCallRefused>

/** Answers the host calls of runs. */
export const makeHostCalls: Effect.Effect<HostCallHandler, never, Events> = Effect.gen(function* () {
  const events = yield* Events

  const operations: ReadonlyMap<string, Operation> = new Map([
    [
      "events.publish",
      operation(
        Schema.Struct({
          type: Schema.String,
          data: Schema.Json,
          stream_id: Schema.optionalKey(Schema.NullOr(Schema.String))
        }),
        (run, { type, data, stream_id }) =>
          Effect.map(
            events.publish({
              type,
              data,
              causedBy: run.run_id,
              ...(typeof stream_id === "string" ? { stream_id } : {})
            }),
            (event) => ({
              event_id: event.event_id,
              stream_id: event.stream_id,
              event_type: event.event_type
            })
          )
      )
    ]
  ])

  return (run, call) => {
    const answer = operations.get(call.op)
    return answer === undefined
      ? Effect.fail(new HostCallRefused({ name: "TypeError", message: "There is no such host call" }))
      : Effect.map(Effect.provideService(answer(run, call.payload), Caller, hostIdentity(run.env_id)), (value) =>
          JSON.stringify(value)
        )
  }
})

/** A failure that may be shown to guest code: those that callers can act on, by name and message. */
interface Tellable {
  readonly _tag: string
  readonly message: string
}

const operation = <A, E extends Tellable>(
  schema: Schema.Codec<A, unknown>,
  act: (run: Run, input: A) => Effect.Effect<Schema.Json, E, Caller>
): Operation => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (run, payload) =>
    Effect.matchEffect(decode(payload), {
      onFailure: (issue) => Effect.fail(new HostCallRefused({ name: "TypeError", message: issue.message })),
      onSuccess: (input) =>
        Effect.mapError(act(run, input), (error) => new HostCallRefused({ name: error._tag, message: error.message }))
    })
}
