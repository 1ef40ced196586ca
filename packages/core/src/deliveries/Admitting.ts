/** Admitting a publication: its deliveries, with the conditions of their functions, and what is told of it. */
import { Effect } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { BadRequest, type StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import type { OnceRequest, Publication } from "../events/EventLog.ts"
import { whyRefused } from "../events/ScheduleEvents.ts"
import { DeliveryId, type EnvId, freshIdsNow } from "../ids/Ids.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import type { AdmissionStore, EarlierRequest } from "../runs/AdmissionStore.ts"
import { newDelivery } from "../runs/Attempt.ts"
import { makeConditions } from "../runs/Conditions.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { currentTraceparent } from "../tracing/Spans.ts"

/** How long a key is taken. */
const onceMs = 24 * 3_600_000

export interface Conditional {
  readonly delivery: Delivery
  readonly onceKey: string | null
}

/** What has come of it: the event is stored, with so many deliveries that wait; or it was stored before. */
export type Outcome = { readonly event: Event; readonly isNew: boolean; readonly waiting: number }

/** The deliveries of a publication, none of them claimed. */
export const makeDeliveries = Effect.gen(function* () {
  const fresh = yield* freshIdsNow
  const conditions = yield* makeConditions

  return Effect.fnUntraced(function* ({ event, matches, causedBy }: Publication) {
    const deliveries: Array<Conditional> = []
    const traceparent = yield* currentTraceparent
    for (const match of matches) {
      const onceKey = match.handler.idempotency === null ? null : yield* conditions.onceKey(event, match)
      const group = match.handler.concurrency === null ? null : yield* conditions.group(event, match)
      deliveries.push({ delivery: newDelivery(event, match, fresh(DeliveryId), causedBy, group, traceparent), onceKey })
    }
    return deliveries
  })
})

/** Stores the publication in one transaction with the keys that it takes and the schedule that it makes. */
export const admitTo = Effect.fnUntraced(function* (
  admissions: AdmissionStore["Service"],
  { event, request, schedule }: Publication,
  deliveries: ReadonlyArray<Conditional>
): Effect.fn.Return<Outcome, BadRequest | StoreUnavailable> {
  const admitted = yield* admissions.admit({
    event,
    deliveries,
    request: request === null ? null : { ...request, key: requestKey(request) },
    ...(schedule === undefined ? {} : { schedule }),
    now: event.created_at,
    until: addMillis(event.created_at, onceMs)
  })
  switch (admitted._tag) {
    case "Refused":
      return yield* new BadRequest({ reason: whyRefused(admitted.refusal) })
    case "Earlier":
      return { event: yield* sameRequest(admitted.earlier, request), isNew: false, waiting: 0 }
    case "Stored":
      return { event, isNew: true, waiting: admitted.deliveries.length }
  }
})

/** `EventLog.earlier` by that store. */
export const earlierIn = Effect.fnUntraced(function* (
  admissions: AdmissionStore["Service"],
  envId: EnvId,
  request: OnceRequest
): Effect.fn.Return<Event | null, BadRequest | StoreUnavailable> {
  const earlier = yield* admissions.earlier(envId, requestKey(request), yield* currentTime)
  return earlier === null ? null : yield* sameRequest(earlier, request)
})

/** What the feed says of a published event. */
export const newsOf = ({ event, beginsStream }: Publication): ReadonlyArray<Activity> => {
  const { env_id, stream_id, event_id, event_type } = event
  const created = { type: "event:created" as const, env_id, event_id, stream_id, event_type }
  return beginsStream ? [{ type: "stream:created", env_id, stream_id }, created] : [created]
}

const requestKey = ({ key }: OnceRequest): string => `request:${key}`

const sameRequest = ({ event, digest }: EarlierRequest, request: OnceRequest | null) =>
  digest === request?.digest
    ? Effect.succeed(event)
    : Effect.fail(new BadRequest({ reason: "Idempotency-Key: it was used for another request within 24 hours" }))
