/**
 * `EventLog`: an event and the intent to handle it, in one commit.
 *
 * While the node has free slots and nothing older waits, its own deliveries are born claimed and begin right
 * after the commit; otherwise they wait in the store, where any node may claim them. Those of a group, and those of
 * events yet to happen, always wait: only a claim knows whether it is their turn. What counts once shares no commit
 * with others, because it may turn out that it is not to be stored.
 */
import { Effect, Exit, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import type { BadRequest, StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type Publication } from "../events/EventLog.ts"
import { freshIdsNow, RunId } from "../ids/Ids.ts"
import { Journal, type News, type Written } from "../journal/Journal.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { OwnRuns } from "../journal/OwnRuns.ts"
import { Untold } from "../journal/Untold.ts"
import { AdmissionStore } from "../runs/AdmissionStore.ts"
import { startRun } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { admitTo, type Conditional, earlierIn, makeDeliveries, newsOf } from "./Admitting.ts"
import { Claimer } from "./Claimer.ts"
import { Slots, slotsOf } from "./Slots.ts"

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
      const { event, isNew, waiting } = yield* untold.during(
        admitTo(admissions, publication, deliveries),
        // Its keys may have been asked for a while before.
        publication.event.created_at
      )
      if (!isNew) return event
      yield* feed.publish(newsOf(publication))
      if (waiting > 0) yield* waits([event])
      if (publication.schedule?._tag === "Created") yield* feed.tell([{ type: "schedules:changed" }])
      return event
    })

    const append = Effect.fnUntraced(function* (publication: Publication) {
      const deliveries = yield* deliveriesOf(publication)
      if (isConditional(publication, deliveries)) return yield* admit(publication, deliveries)
      yield* write([entryOf(publication, deliveries)])
      return publication.event
    }, Effect.uninterruptible)

    const appendAll = Effect.fnUntraced(function* (publications: ReadonlyArray<Publication>) {
      const events = publications.map(({ event }) => event)
      const plain: Array<Entry> = []
      const conditional: Array<Effect.Effect<void, BadRequest | StoreUnavailable>> = []
      for (const [index, publication] of publications.entries()) {
        const deliveries = yield* deliveriesOf(publication)
        if (!isConditional(publication, deliveries)) plain.push(entryOf(publication, deliveries))
        else
          conditional.push(Effect.map(admit(publication, deliveries), (event) => void events.splice(index, 1, event)))
      }
      const admitted = Effect.all(conditional, { concurrency: admissionsMax, discard: true })
      yield* Effect.all([write(plain), admitted], { concurrency: 2, discard: true })
      return events
    }, Effect.uninterruptible)

    return EventLog.of({ append, appendAll, earlier: (envId, request) => earlierIn(admissions, envId, request) })
  })
)

/** Of many that are published at once. */
const admissionsMax = 16

const isConditional = ({ request, schedule }: Publication, deliveries: ReadonlyArray<Conditional>): boolean =>
  request !== null || schedule !== undefined || deliveries.some(({ onceKey }) => onceKey !== null)

/** What goes into the journal of a publication without conditions. */
interface Entry {
  readonly event: Event
  readonly deliveries: ReadonlyArray<Delivery>
  readonly news: News
}

const entryOf = (publication: Publication, deliveries: ReadonlyArray<Conditional>): Entry => ({
  event: publication.event,
  deliveries: deliveries.map(({ delivery }) => delivery),
  news: () => newsOf(publication)
})

/** Deliveries of the events, all of one environment, wait in the store: sees to it that somebody claims them in time. */
const makeWaits = Effect.gen(function* () {
  const lease = yield* NodeLease
  const slots = yield* Slots
  const claimer = yield* Claimer
  const feed = yield* Feed

  return (events: ReadonlyArray<Event>) =>
    Effect.suspend(() => {
      const due = events.find((event) => event.event_time <= event.created_at)
      if (due !== undefined) claimer.claim(slots.waits(due.env_id))
      for (const event of events) if (event.event_time > event.created_at) claimer.claimAt(event.event_time)
      return feed.tell([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    })
})

/** Writes events and their deliveries with the journal; some of them may be born claimed. */
const makeWrite = Effect.fnUntraced(function* (waits: (events: ReadonlyArray<Event>) => Effect.Effect<void>) {
  const journal = yield* Journal
  const lease = yield* NodeLease
  const slots = yield* Slots
  const fresh = yield* freshIdsNow
  const own = yield* OwnRuns

  /** `done` is told whether some of its deliveries wait. */
  const append = ({ event, deliveries, news }: Entry, done: (exit: Exit.Exit<boolean, StoreUnavailable>) => void) => {
    const ready = event.event_time > event.created_at ? 0 : deliveries.filter(({ group }) => group === null).length
    const each = slotsOf(event)
    const reserved = ready === 0 ? 0 : slots.reserve(event.env_id, ready, each)
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
        if (reserved > 0) slots.release(event.env_id, reserved * each)
        return done(exit)
      }
      for (const { delivery, run } of entries) if (run !== null) slots.begin({ delivery, event, run })
      done(Exit.succeed(reserved < deliveries.length))
    }
    journal.append({ _tag: "Appended", event, deliveries: entries }, written, news)
  }

  return (entries: ReadonlyArray<Entry>): Effect.Effect<void, StoreUnavailable> =>
    entries.length === 0
      ? Effect.void
      : Effect.callback((resume) => {
          const waiting: Array<Event> = []
          let left = entries.length
          let failed: Exit.Exit<never, StoreUnavailable> | null = null
          for (const entry of entries) {
            append(entry, (exit) => {
              if (Exit.isFailure(exit)) failed = Exit.failCause(exit.cause)
              else if (exit.value) waiting.push(entry.event)
              if (--left > 0) return
              const told = waiting.length === 0 ? Effect.void : waits(waiting)
              resume(failed === null ? told : Effect.andThen(told, failed))
            })
          }
        })
})
