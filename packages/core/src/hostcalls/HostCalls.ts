/**
 * What guest code may ask of its host: the table of host calls.
 *
 * To add one: a row here (operation, payload schema, the service call behind it) and its face in the sandbox's
 * `svc`. A call acts with the permissions of the run's environment, checked by the same services as everything
 * else; its payload is hostile until its schema has read it.
 */
import { Effect, Schema } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import type { Feed } from "../activity/Feed.ts"
import { Events } from "../events/Events.ts"
import type { Run } from "../runs/Run.ts"
import { type HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { ProjectSecrets } from "../secrets/ProjectSecrets.ts"
import { makeScheduleCalls } from "./ScheduleCalls.ts"
import { makeStreamCalls } from "./StreamCalls.ts"

/** A row: decodes the payload, acts for `run`, answers JSON. Secrets that it gives away are added to `secrets`. */
type Operation = (
  run: Run,
  payload: string,
  secrets: Set<string>
) => Effect.Effect<Schema.Json, HostCallRefused, Caller>

/** `secrets` collects the secrets that the run has read, for `masked`. */
export type HostCallHandler = (run: Run, call: HostCall, secrets: Set<string>) => Effect.Effect<string, HostCallRefused>

type Behind = Events | ProjectSecrets | Feed

/** Answers the host calls of runs. */
export const makeHostCalls: Effect.Effect<HostCallHandler, never, Behind> = Effect.gen(function* () {
  const events = yield* Events
  const projectSecrets = yield* ProjectSecrets
  const streamCalls = yield* makeStreamCalls
  const scheduleCalls = yield* makeScheduleCalls

  const operations: ReadonlyMap<string, Operation> = new Map([
    [
      "events.publish",
      operation(
        Schema.Struct({
          type: Schema.String,
          data: Schema.Json,
          stream_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
          delay: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))
        }),
        (run, { type, data, stream_id, delay = null }) =>
          Effect.map(
            events.publish({
              type,
              data,
              causedBy: run.run_id,
              ...(typeof stream_id === "string" ? { stream_id } : {}),
              ...(delay === null ? {} : { delay })
            }),
            (event) => ({
              event_id: event.event_id,
              stream_id: event.stream_id,
              event_type: event.event_type
            })
          )
      )
    ],
    [
      "call",
      operation(
        Schema.Struct({ fn: Schema.String, args: Schema.optionalKey(Schema.Array(Schema.Json)) }),
        (run, { fn, args = [] }) =>
          Effect.map(
            // On the run's own stream, so that who watches that sees its background jobs.
            events.publish({ type: "svc:call", data: { fn, args }, stream_id: run.stream_id, causedBy: run.run_id }),
            ({ event_id, stream_id }) => ({ event_id, stream_id })
          )
      )
    ],
    [
      "context.get",
      operation(Schema.Struct({ key: Schema.String }), (run, { key }, secrets) =>
        Effect.tap(projectSecrets.get(run.env_id, run.project_id, key), (value) =>
          Effect.sync(() => void (value === null || secrets.add(value)))
        )
      )
    ],
    [
      "context.all",
      operation(Schema.Struct({}), (run, _, secrets) =>
        Effect.map(projectSecrets.all(run.env_id, run.project_id), (values) => {
          for (const value of values.values()) secrets.add(value)
          return Object.fromEntries(values)
        })
      )
    ]
  ])

  return (run, call, secrets) => {
    const emitted = streamCalls.answer(run, call)
    if (emitted !== null) return emitted
    const scheduled = scheduleCalls.get(call.op)
    if (scheduled !== undefined) return scheduled(run, call.payload)
    const answer = operations.get(call.op)
    return answer === undefined
      ? Effect.fail(new HostCallRefused({ name: "TypeError", message: "There is no such host call" }))
      : Effect.map(
          Effect.provideService(answer(run, call.payload, secrets), Caller, hostIdentity(run.env_id)),
          (value) => JSON.stringify(value)
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
  act: (run: Run, input: A, secrets: Set<string>) => Effect.Effect<Schema.Json, E, Caller>
): Operation => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (run, payload, secrets) =>
    Effect.matchEffect(decode(payload), {
      onFailure: (issue) => Effect.fail(new HostCallRefused({ name: "TypeError", message: issue.message })),
      onSuccess: (input) =>
        Effect.mapError(
          act(run, input, secrets),
          (error) => new HostCallRefused({ name: error._tag, message: error.message })
        )
    })
}
