/**
 * `EventLog`: an event and the intent to handle it, in one commit.
 *
 * While the node has free slots and nothing older waits, its own deliveries are born claimed and begin right
 * after the commit; otherwise they wait in the store, where any node may claim them. Those of a group, and those of
 * events yet to happen, always wait: only a claim knows whether it is their turn. What counts once shares no commit
 * with others, because it may turn out that it is not to be stored.
 */
import { Effect, Exit, Layer } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type Publication } from "../events/EventLog.ts"
import { freshIdsNow, RunId } from "../ids/Ids.ts"
import { AdmissionStore } from "./AdmissionStore.ts"
import { admitTo, type Conditional, earlierIn, makeDeliveries, newsOf } from "./Admitting.ts"
import { startRun } from "./Attempt.ts"
import { Claimer } from "./Claimer.ts"
import type { Delivery } from "./Delivery.ts"
import { Journal, type Written } from "./Journal.ts"
import { NodeLease } from "./NodeLease.ts"
import { OwnRuns } from "./OwnRuns.ts"
import { Slots } from "./Slots.ts"
import { Untold } from "./Untold.ts"

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const admissions = yield* AdmissionStore
    const untold = yield* Untold
    const feed = yield* Feed
    const deliveriesOf = yield* makeDeliveries
    const waits = yield* makeWaits
    const write = yield* makeWrite(waits)

    const admit = Effect.fnUntraced(function* (publication: Publication, deliveries: ReadonlyArray<Conditional>) {
      const { event, isNew, waiting } = yield* untold.during(admitTo(admissions, publication, deliveries))
      if (!isNew) return event
      yield* feed.publish(newsOf(publication))
      if (waiting > 0) yield* waits(event)
      if (publication.schedule?._tag === "Created") yield* feed.tell([{ type: "schedules:changed" }])
      return event
    })

    return EventLog.of({
      append: Effect.fnUntraced(function* (publication: Publication) {
        const { event, request, schedule } = publication
        const deliveries = yield* deliveriesOf(publication)
        if (request !== null || schedule !== undefined || deliveries.some(({ onceKey }) => onceKey !== null)) {
          return yield* admit(publication, deliveries)
        }
        yield* write(
          event,
          deliveries.map(({ delivery }) => delivery),
          newsOf(publication)
        )
        return event
      }, Effect.uninterruptible),

      earlier: (envId, request) => earlierIn(admissions, envId, request)
    })
  })
)

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
  const fresh = yield* freshIdsNow
  const own = yield* OwnRuns

  return (
    event: Event,
    deliveries: ReadonlyArray<Delivery>,
    news: ReadonlyArray<Activity>
  ): Effect.Effect<void, StoreUnavailable> =>
    Effect.callback((resume) => {
      const ready = event.event_time > event.created_at ? 0 : deliveries.filter(({ group }) => group === null).length
      const reserved = ready === 0 ? 0 : slots.reserve(event.env_id, ready)
      let left = reserved
      const entries = deliveries.map((delivery) => {
        const isBorn = left > 0 && delivery.group === null
        if (isBorn) left--
        return { delivery, run: isBorn ? startRun(delivery, fresh(RunId), lease.nodeId, event.created_at) : null }
      })
      const born = entries.flatMap(({ run }) => (run === null ? [] : [run.run_id]))
      own.begin(born)
      const written: Written = (exit) => {
        if (Exit.isFailure(exit)) {
          own.end(born)
          if (reserved > 0) slots.release(event.env_id, reserved)
          return resume(Exit.failCause(exit.cause))
        }
        for (const { delivery, run } of entries) if (run !== null) slots.begin({ delivery, event, run })
        resume(reserved < deliveries.length ? waits(event) : Effect.void)
      }
      journal.append({ _tag: "Appended", event, deliveries: entries }, written, news)
    })
})
