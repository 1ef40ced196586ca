/**
 * Copies of events for previews that asked for them.
 *
 * Only events from outside are copied: what functions publish, the functions of a preview publish themselves. A copy is sent
 * after its event is stored, at most once. Without such previews, a publication costs one look-up in memory.
 */
import { Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import { Deployments } from "../../resources/builds/Deployments.ts"
import { Caller, hostIdentity } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Event } from "./Event.ts"
import type { EventLog } from "./EventLog.ts"
import type { NewEvent, PublishEvent } from "./publishEvent.ts"
import { isSystemType } from "./SystemEvents.ts"

/** Maximum copies in flight on this node. Further ones are dropped. */
const pendingMax = 1_000

/** Sends copies in the background. `events` are the stored events of `inputs`, in their order. */
export type CopyEvents = (
  envId: EnvId,
  inputs: ReadonlyArray<NewEvent>,
  events: ReadonlyArray<Event>
) => Effect.Effect<void>

export const makeCopyEvents = Effect.fnUntraced(function* (log: EventLog["Service"], publishEvent: PublishEvent) {
  const plans = yield* Plans
  const deployments = yield* Deployments
  const scope = yield* Effect.scope
  let pending = 0

  const copy = Effect.fnUntraced(function* (receiver: EnvId, input: NewEvent, { stream_id }: Event) {
    const deployed = yield* deployments.of(receiver)
    if (deployed.matches(input.type).length === 0 && deployed.cancels(input.type).length === 0) return
    // The idempotency key stays, so that a repeated request is copied once.
    const { event_id: _id, newStream: _stream, traceparent: _trace, ...copied } = input
    yield* publishEvent.one(log, { ...copied, stream_id }).pipe(Effect.provideService(Caller, hostIdentity(receiver)))
  })

  const send = (receiver: EnvId, input: NewEvent, event: Event) =>
    Effect.suspend(() => {
      if (pending >= pendingMax) return Effect.void
      pending++
      const sent = Effect.ignore(copy(receiver, input, event), { log: "Debug" })
      const ended = Effect.sync(() => {
        pending--
      })
      return Effect.asVoid(Effect.forkIn(Effect.ensuring(sent, ended), scope))
    })

  const copyEvents: CopyEvents = (envId, inputs, events) => {
    const receivers = plans.getCached(envId)?.copiesTo ?? []
    if (receivers.length === 0) return Effect.void
    const copied = inputs.flatMap((input, index) => {
      const event = events[index]
      const isCopied = event !== undefined && input.causedBy === undefined && !isSystemType(input.type)
      return isCopied ? receivers.map((receiver) => send(receiver, input, event)) : []
    })
    return Effect.all(copied, { discard: true })
  }
  return copyEvents
})
