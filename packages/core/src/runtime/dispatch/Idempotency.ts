/** Deliveries of a publication, their idempotency keys, and the admission of publications with such keys. */
import { Effect } from "effect"
import { BadRequest, type StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, type EnvId, earlierId, freshIdsNow } from "../../foundation/Ids.ts"
import { currentTraceparent } from "../../foundation/telemetry/Spans.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { OnceRequest, Publication } from "../events/EventLog.ts"
import { describeRefusal } from "../events/ScheduleEvents.ts"
import type { AdmissionStore, EarlierRequest, Replaced } from "../runs/AdmissionStore.ts"
import { newDelivery } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { makeDeliveryKeys } from "../runs/DeliveryKeys.ts"
import type { FlowRule } from "../runs/FlowRules.ts"

/** Lifetime of a key in milliseconds. */
const keyLifetimeMs = 24 * 3_600_000

export interface KeyedDelivery {
  readonly delivery: Delivery
  readonly onceKey: string | null
  /** Rules that decide whether the delivery is stored. */
  readonly rules: ReadonlyArray<FlowRule>
}

const noRules: ReadonlyArray<FlowRule> = []

/** Result of an admission: the new event, its number of pending deliveries and what they replaced, or an earlier event. */
export interface AdmissionResult {
  readonly event: Event
  readonly isNew: boolean
  readonly waiting: number
  /** Number of batches that the event joined. */
  readonly joined: number
  /** True if deliveries are pending that were not before, or are due earlier. */
  readonly isPending: boolean
  readonly replaced: Replaced
}

const replacedNone: Replaced = { runs: [], events: [] }

const admittedNone = { isNew: false, waiting: 0, joined: 0, isPending: false, replaced: replacedNone }

/** Returns a function that builds the deliveries of a publication, none of them claimed. */
export const makeDeliveries = Effect.gen(function* () {
  const fresh = yield* freshIdsNow
  const keys = yield* makeDeliveryKeys

  return Effect.fnUntraced(function* ({ event, matches, cause }: Publication) {
    const deliveries: Array<KeyedDelivery> = []
    const traceparent = yield* currentTraceparent
    for (const match of matches) {
      const { idempotency, concurrency, flow } = match.handler
      const onceKey = idempotency === null ? null : yield* keys.onceKey(event, match)
      const group = concurrency === null && flow === undefined ? null : yield* keys.group(event, match)
      const delivery = newDelivery(event, match, fresh(DeliveryId), cause, group, traceparent)
      if (flow === undefined) deliveries.push({ delivery, onceKey, rules: noRules })
      else {
        const terms = yield* keys.startTerms(event, match)
        const queued = moveAhead({ ...delivery, ...terms }, event, yield* keys.priorityMs(event, match))
        deliveries.push({ delivery: queued, onceKey, rules: yield* keys.rules(event, match) })
      }
    }
    return deliveries
  })
})

/** Returns a function that lists the keys of the deliveries and runs that the event of a publication cancels. */
export const makeCancelKeys = Effect.map(makeDeliveryKeys, ({ cancelKey }) =>
  Effect.fnUntraced(function* ({ event, cancels = [] }: Publication) {
    const keys = yield* Effect.forEach(cancels, (match) => cancelKey(event, match))
    // Both sides of a canary may declare the same cancellation.
    return [...new Set(keys.flatMap((key) => key ?? []))]
  })
)

/**
 * Gives the delivery the place of one that was created `priorityMs` earlier. Queues are in the order of `due_at`, and groups
 * in the order of the ids. So deliveries with a priority overtake others only for that time, and none waits forever.
 */
const moveAhead = (delivery: Delivery, event: Event, priorityMs: number): Delivery => {
  if (priorityMs === 0) return delivery
  // A delayed event is never handled before its time.
  const isDelayed = event.event_time > event.created_at
  return {
    ...delivery,
    delivery_id: earlierId(DeliveryId, delivery.delivery_id, priorityMs),
    due_at: isDelayed ? delivery.due_at : addMillis(delivery.due_at, -priorityMs)
  }
}

/** Stores the publication, its keys and its schedule in one transaction. */
export const admitTo = Effect.fnUntraced(function* (
  admissions: AdmissionStore["Service"],
  { event, request, schedule }: Publication,
  deliveries: ReadonlyArray<KeyedDelivery>,
  cancels: ReadonlyArray<string>
): Effect.fn.Return<AdmissionResult, BadRequest | StoreUnavailable> {
  const admitted = yield* admissions.admit({
    event,
    deliveries,
    request: request === null ? null : { ...request, key: requestKey(request) },
    ...(schedule === undefined ? {} : { schedule }),
    ...(cancels.length === 0 ? {} : { cancels }),
    now: event.created_at,
    until: addMillis(event.created_at, keyLifetimeMs)
  })
  switch (admitted._tag) {
    case "Refused":
      return yield* new BadRequest({ reason: describeRefusal(admitted.refusal) })
    case "Earlier":
      return { ...admittedNone, event: yield* checkDigest(admitted.earlier, request) }
    case "Stored":
      return {
        event,
        isNew: true,
        waiting: admitted.deliveries.length,
        joined: admitted.batched?.joined.length ?? 0,
        isPending: admitted.deliveries.length > 0 || admitted.batched?.isDue === true,
        replaced: admitted.replaced ?? replacedNone
      }
  }
})

/** Implements `EventLog.earlier`. */
export const findEarlier = Effect.fnUntraced(function* (
  admissions: AdmissionStore["Service"],
  envId: EnvId,
  request: OnceRequest
): Effect.fn.Return<Event | null, BadRequest | StoreUnavailable> {
  const earlier = yield* admissions.earlier(envId, requestKey(request), yield* currentTime)
  return earlier === null ? null : yield* checkDigest(earlier, request)
})

const requestKey = ({ key }: OnceRequest): string => `request:${key}`

const checkDigest = ({ event, digest }: EarlierRequest, request: OnceRequest | null) =>
  digest === request?.digest
    ? Effect.succeed(event)
    : Effect.fail(new BadRequest({ reason: "Idempotency-Key: it was used for another request within 24 hours" }))
