/** Random messages of a cluster bus of all kinds. */
import { type ActivityEvent, type ControlMessage, JsonText } from "@weft/core/adapter"
import { Effect, PubSub, type Scope } from "effect"
import * as fc from "fast-check"
import { envId, eventId, nodeId, projectId, runId, streamId } from "./Samples.ts"

const some = fc.integer({ min: 1, max: 1_000_000 })
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }))
const json = fc.jsonValue().map((value) => JsonText.make(JSON.stringify(value)))

export const anyControlMessage: fc.Arbitrary<ControlMessage> = fc.oneof(
  fc.record({ type: fc.constant("deployments:changed" as const), env_id: some.map(envId) }),
  fc.record({
    type: fc.constant("context:changed" as const),
    env_id: some.map(envId),
    project_id: some.map(projectId)
  }),
  fc.record({
    type: fc.constant("credential:changed" as const),
    credential: fc.constantFrom("api-key" as const, "service-key" as const, "session" as const),
    id: text
  }),
  fc.record({ type: fc.constant("domains:changed" as const), domain: text }),
  fc.record({ type: fc.constant("tenants:changed" as const) }),
  fc.record({ type: fc.constant("deliveries:waiting" as const), node_id: fc.option(some.map(nodeId)) }),
  fc.record({ type: fc.constant("schedules:changed" as const) }),
  fc.record({
    type: fc.constant("runs:cancelled" as const),
    node_id: some.map(nodeId),
    run_ids: fc.array(some.map(runId))
  })
)

const run = {
  env_id: some.map(envId),
  run_id: some.map(runId),
  stream_id: some.map(streamId),
  run_type: text,
  project_id: some.map(projectId),
  project_name: text
}

export const anyActivity: fc.Arbitrary<ActivityEvent> = fc.oneof(
  fc.record({ type: fc.constant("run:start" as const), ...run }),
  fc.record({
    type: fc.constantFrom("run:stop" as const, "run:fail" as const, "run:cancel" as const),
    ...run,
    result: json
  }),
  fc.record({
    type: fc.constant("run:step" as const),
    ...run,
    ...{ kind: text, name: text, ok: fc.boolean(), position: fc.nat(), attempts: fc.nat(), ms: fc.nat() }
  }),
  fc.record({ type: fc.constant("run:waiting" as const), ...run, waiting: json }),
  fc.record({
    type: fc.constantFrom("event:created" as const, "event:handled" as const),
    env_id: some.map(envId),
    event_id: some.map(eventId),
    stream_id: some.map(streamId),
    event_type: text
  }),
  fc.record({ type: fc.constant("stream:created" as const), env_id: some.map(envId), stream_id: some.map(streamId) }),
  fc.record({ type: fc.constant("stream:data" as const), ...run, data_type: text, payload: json })
)

/** Collects all messages of a subscription until the scope closes. */
export const collectMessages = Effect.fnUntraced(function* <A>(
  subscribe: Effect.Effect<PubSub.Subscription<A>, never, Scope.Scope>
): Effect.fn.Return<Array<A>, never, Scope.Scope> {
  const subscription = yield* subscribe
  const received: Array<A> = []
  yield* PubSub.takeAll(subscription).pipe(
    Effect.tap((messages) => Effect.sync(() => received.push(...messages))),
    Effect.forever,
    Effect.forkScoped
  )
  return received
})
