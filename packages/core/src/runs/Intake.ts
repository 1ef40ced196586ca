/**
 * `EventLog`: an event and the intent to handle it, in one commit.
 *
 * While the node has free slots and nothing older waits, its own deliveries are born claimed and begin right
 * after the commit; otherwise they wait in the store, where any node may claim them. Those of a group, and those of
 * events yet to happen, always wait: only a claim knows whether it is their turn. What counts once shares no commit
 * with others, because it may turn out that it is not to be stored.
 */
import { Effect, Layer, Queue } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import { BadRequest } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type OnceRequest, type Publication } from "../events/EventLog.ts"
import { whyRefused } from "../events/ScheduleEvents.ts"
import { DeliveryId, freshIds, RunId } from "../ids/Ids.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { AdmissionStore, type EarlierRequest } from "./AdmissionStore.ts"
import { newDelivery, startRun } from "./Attempt.ts"
import { Claimer } from "./Claimer.ts"
import { makeConditions } from "./Conditions.ts"
import type { Delivery } from "./Delivery.ts"
import { Journal } from "./Journal.ts"
import { NodeLease } from "./NodeLease.ts"
import type { Run } from "./Run.ts"
import { Slots } from "./Slots.ts"

/** How long a key is taken. */
const onceMs = 24 * 3_600_000

interface Conditional {
  readonly delivery: Delivery
  readonly onceKey: string | null
}

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const admissions = yield* AdmissionStore
    const feed = yield* Feed
    const fresh = yield* freshIds
    const conditions = yield* makeConditions
    const waits = yield* makeWaits
    const write = yield* makeWrite(waits)

    const admit = Effect.fnUntraced(function* (
      event: Event,
      deliveries: ReadonlyArray<Conditional>,
      publication: Publication
    ) {
      const { request, schedule } = publication
      const admitted = yield* admissions.admit({
        event,
        deliveries,
        request: request === null ? null : { ...request, key: requestKey(request) },
        ...(schedule === undefined ? {} : { schedule }),
        now: event.created_at,
        until: addMillis(event.created_at, onceMs)
      })
      if (admitted._tag === "Refused") return yield* new BadRequest({ reason: whyRefused(admitted.refusal) })
      if (admitted._tag === "Earlier") return yield* sameRequest(admitted.earlier, request)
      yield* feed.publish(newsOf(publication))
      if (admitted.deliveries.length > 0) yield* waits(event)
      if (schedule?._tag === "Created") yield* feed.tell([{ type: "schedules:changed" }])
      return event
    })

    return EventLog.of({
      append: Effect.fnUntraced(function* (publication: Publication) {
        const { event, matches, causedBy, request, schedule } = publication
        let isConditional = request !== null || schedule !== undefined
        const deliveries: Array<Conditional> = []
        for (const match of matches) {
          const onceKey = match.handler.idempotency === null ? null : yield* conditions.onceKey(event, match)
          const group = match.handler.concurrency === null ? null : yield* conditions.group(event, match)
          deliveries.push({ delivery: newDelivery(event, match, yield* fresh(DeliveryId), causedBy, group), onceKey })
          if (onceKey !== null) isConditional = true
        }
        if (isConditional) return yield* admit(event, deliveries, publication)
        yield* write(
          event,
          deliveries.map(({ delivery }) => delivery),
          newsOf(publication)
        )
        return event
      }, Effect.uninterruptible),

      earlier: Effect.fnUntraced(function* (envId, request) {
        const earlier = yield* admissions.earlier(envId, requestKey(request), yield* currentTime)
        return earlier === null ? null : yield* sameRequest(earlier, request)
      })
    })
  })
)

/** What the feed says of a published event. */
const newsOf = ({ event, beginsStream }: Publication): ReadonlyArray<Activity> => {
  const { env_id, stream_id, event_id, event_type } = event
  const created = { type: "event:created" as const, env_id, event_id, stream_id, event_type }
  return beginsStream ? [{ type: "stream:created", env_id, stream_id }, created] : [created]
}

const requestKey = ({ key }: OnceRequest): string => `request:${key}`

const sameRequest = ({ event, digest }: EarlierRequest, request: OnceRequest | null) =>
  digest === request?.digest
    ? Effect.succeed(event)
    : Effect.fail(new BadRequest({ reason: "Idempotency-Key: it was used for another request within 24 hours" }))

/** Deliveries of the event wait in the store: sees to it that somebody claims them in time. */
const makeWaits = Effect.gen(function* () {
  const lease = yield* NodeLease
  const slots = yield* Slots
  const claimer = yield* Claimer
  const feed = yield* Feed

  return (event: Event) =>
    Effect.suspend(() => {
      if (event.event_time > event.created_at) claimer.claimAt(event.event_time)
      else claimer.claim(slots.waits(event.env_id))
      return feed.tell([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    })
})

/** Writes the event and its deliveries with the journal; some of them may be born claimed. */
const makeWrite = Effect.fnUntraced(function* (waits: (event: Event) => Effect.Effect<void>) {
  const journal = yield* Journal
  const lease = yield* NodeLease
  const slots = yield* Slots
  const fresh = yield* freshIds

  return Effect.fnUntraced(function* (
    event: Event,
    deliveries: ReadonlyArray<Delivery>,
    news: ReadonlyArray<Activity>
  ) {
    const ready = event.event_time > event.created_at ? 0 : deliveries.filter(({ group }) => group === null).length
    const reserved = ready === 0 ? 0 : slots.reserve(event.env_id, ready)
    const entries: Array<{ readonly delivery: Delivery; readonly run: Run | null }> = []
    let left = reserved
    for (const delivery of deliveries) {
      const isBorn = left > 0 && delivery.group === null
      if (isBorn) left--
      const run = isBorn ? startRun(delivery, yield* fresh(RunId), lease.nodeId, event.created_at) : null
      entries.push({ delivery, run })
    }
    const written = journal.write({ _tag: "Appended", event, deliveries: entries }, news)
    yield* reserved === 0
      ? written
      : Effect.onError(written, () => Effect.sync(() => slots.release(event.env_id, reserved)))
    for (const { delivery, run } of entries) {
      if (run !== null) Queue.offerUnsafe(slots.claimed, { delivery, event, run })
    }
    if (reserved < deliveries.length) yield* waits(event)
  })
})
