/**
 * Publishes `svc:run:failed` when a run has failed for good: its last attempt failed, or it expired.
 *
 * The event is stored with the end of the run, and only if somebody receives it. Receivers are the function that `onFailure`
 * names, handlers of the type, and runs that wait for it. Without any, a failure costs one lookup in memory.
 *
 * A run that handles such an event publishes none, and the depth of chains limits longer loops.
 */
import { Effect, type Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, type EnvId, EventId, freshIdsNow } from "../../foundation/Ids.ts"
import { fromJsonText, toJsonText } from "../../foundation/JsonText.ts"
import { currentTraceparent } from "../../foundation/telemetry/Spans.ts"
import { iso } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { assignTo, Deployments, type Match } from "../../resources/builds/Deployments.ts"
import { failureEventType, nameOf } from "../../resources/builds/OnFailure.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Cause } from "../events/Cause.ts"
import type { Event } from "../events/Event.ts"
import { EventExpressions, toSubject } from "../events/EventExpressions.ts"
import type { Claim, JournalEntry } from "../journal/JournalStore.ts"
import { hasFailed, newDelivery } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { Run } from "../runs/Run.ts"
import { Arrivals } from "../workflows/Arrivals.ts"
import { Claimer } from "./Claimer.ts"
import { makeDeliveries } from "./Idempotency.ts"
import { Slots } from "./Slots.ts"

type Settled = Extract<JournalEntry, { _tag: "Settled" }>

export interface FailureEvents {
  /** False if no event about the end of the run is needed, as far as this node knows without a query. */
  readonly mayFollow: (claim: Claim, entry: Settled) => boolean
  /** Returns the entry with the event about the failure of its run. Leaves it unchanged if the plan does not allow the event. */
  readonly follow: (claim: Claim, entry: Settled) => Effect.Effect<Settled, StoreUnavailable>
  /** Notifies the receivers after the commit of the entry. */
  readonly stored: (entry: Settled) => Effect.Effect<void>
}

export const makeFailureEvents = Effect.gen(function* () {
  const deployments = yield* Deployments
  const expressions = yield* EventExpressions
  const arrivals = yield* Arrivals
  const quotas = yield* Quotas
  const claimer = yield* Claimer
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const fresh = yield* freshIdsNow
  const toDeliveries = yield* makeDeliveries

  const isAwaited = (envId: EnvId) => arrivals.isAwaited(envId, failureEventType)

  const hasReceivers = (envId: EnvId): boolean => {
    const deployed = deployments.getCached(envId)
    if (deployed === undefined || deployed.canaries !== null) return true
    return deployed.failureHandlers.length > 0 || isAwaited(envId)
  }

  /** Returns false if the plan does not allow the runs, or the depth of their chain. */
  const admit = ({ run_id, env_id }: Run, depth: number, handlers: ReadonlyArray<{ readonly durable: boolean }>) =>
    quotas.admitDepth(env_id, depth).pipe(
      Effect.andThen(handlers.some(({ durable }) => durable) ? quotas.admitDurable(env_id) : Effect.void),
      Effect.andThen(handlers.length === 0 ? Effect.void : quotas.admit(env_id, handlers.length)),
      Effect.as(true),
      Effect.catchTags({
        PlanRequired: ({ reason }) =>
          Effect.as(
            Effect.logWarning(`The failure of run ${run_id} in environment ${env_id} is not published: ${reason}`),
            false
          ),
        NotFound: () => Effect.succeed(false)
      })
    )

  /** Returns the delivery of the event to the function that `onFailure` names. */
  const callOnFailure = Effect.fnUntraced(function* (event: Event, { delivery }: Claim, cause: Cause) {
    const { on_failure, project_id, project_name, build_id } = delivery
    if (on_failure === undefined) return []
    const match = { build: { project_id, project_name, build_id }, handler: on_failure, run_type: "event" } as const
    return [newDelivery(event, match, fresh(DeliveryId), cause, null, yield* currentTraceparent)]
  })

  const follow = Effect.fnUntraced(function* (
    claim: Claim,
    entry: Settled
  ): Effect.fn.Return<Settled, StoreUnavailable> {
    const { run } = entry
    const event = toFailureEvent(claim, run, fresh(EventId))
    const deployed = assignTo(yield* deployments.of(run.env_id), () => toSubject(event))
    const selected = yield* expressions.select(event, deployed.failureHandlers)
    const matches = selected.filter((match) => !isOnFailure(match, claim.delivery))
    const { on_failure, depth } = claim.delivery
    const handlers = [...(on_failure === undefined ? [] : [on_failure]), ...matches.map(({ handler }) => handler)]
    if (handlers.length === 0 && !isAwaited(run.env_id)) return entry
    const cause = { run_id: run.run_id, depth: depth + 1 }
    if (!(yield* admit(run, cause.depth, handlers))) return entry
    const called = yield* callOnFailure(event, claim, cause)
    const keyed = yield* toDeliveries({ event, matches, cause, beginsStream: false, request: null })
    return { ...entry, followUp: { event, deliveries: [...called, ...keyed.map(({ delivery }) => delivery)] } }
  })

  const failures: FailureEvents = {
    mayFollow: ({ delivery, event }, { run, next, followUp }) =>
      next === null &&
      followUp === undefined &&
      event.event_type !== failureEventType &&
      hasFailed(run) &&
      (delivery.on_failure !== undefined || hasReceivers(run.env_id)),
    follow,
    stored: ({ followUp }) =>
      Effect.suspend(() => {
        if (followUp === undefined) return Effect.void
        const { event, deliveries } = followUp
        arrivals.published(event)
        if (deliveries.length === 0) return Effect.void
        claimer.claim(slots.addPending(event.env_id))
        return bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
      })
  }
  return failures
})

/** True for the function that `onFailure` already calls. */
const isOnFailure = ({ build, handler }: Match, { build_id, on_failure }: Delivery): boolean =>
  on_failure !== undefined && build.build_id === build_id && nameOf(handler) === nameOf(on_failure)

const toFailureEvent = (claim: Claim, run: Run, event_id: EventId): Event => {
  const at = run.stop_time ?? run.start_time
  return {
    event_id,
    env_id: run.env_id,
    stream_id: run.stream_id,
    event_type: failureEventType,
    event_data: toJsonText(toFailure(claim, run)),
    event_time: at,
    created_at: at
  }
}

/** Returns the data of the event. Only functions with `onFailure` share the data of their own events. */
const toFailure = ({ event, events, delivery }: Claim, run: Run) => {
  const toShared = ({ event_id, event_type, stream_id, event_data }: Event) => ({
    ...{ event_id, event_type, stream_id },
    ...(delivery.on_failure === undefined ? {} : { event_data: fromJsonText(event_data) })
  })
  const { run_id, project_id, project_name, build_id, ns, var: name, run_type, status, attempt } = run
  const { error }: { readonly error?: Schema.Json } = JSON.parse(run.result ?? "{}")
  return {
    ...{ run_id, project_id, project_name, build_id, ns, var: name, run_type, status, attempt },
    start_time: iso(run.start_time),
    stop_time: iso(run.stop_time ?? run.start_time),
    error: error ?? null,
    event: toShared(event),
    ...(events === undefined ? {} : { events: events.map(toShared) })
  }
}
