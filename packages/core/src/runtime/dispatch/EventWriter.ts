/**
 * Implements `EventLog`: writes an event and its deliveries in one commit.
 *
 * If the node has free slots and no older delivery is pending, new deliveries are stored as already claimed. They start
 * after the commit. Otherwise they are pending in the store, where any node may claim them. Deliveries of a group,
 * with a throttle, of paused functions and of future events are always pending, because only a claim can decide about them. Publications with idempotency
 * keys have commits of their own, because they may turn out to be duplicates.
 */
import { Effect, Exit, Layer } from "effect"
import type { BadRequest, StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIdsNow, RunId } from "../../foundation/Ids.ts"
import { KeyedSemaphore } from "../../foundation/KeyedSemaphore.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type Publication } from "../events/EventLog.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { type EntryActivity, Journal, type WriteCallback } from "../journal/Journal.ts"
import { LocalRuns } from "../journal/LocalRuns.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { publicationActivity } from "../runs/Activity.ts"
import { AdmissionStore } from "../runs/AdmissionStore.ts"
import { startRun } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { Arrivals } from "../workflows/Arrivals.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"
import { makeNotifyCancelled } from "./CancelledRuns.ts"
import { Claimer } from "./Claimer.ts"
import { admitTo, findEarlier, type KeyedDelivery, makeCancelKeys, makeDeliveries } from "./Idempotency.ts"
import { countSlots, Slots } from "./Slots.ts"

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const admissions = yield* AdmissionStore
    const unconfirmed = yield* UnconfirmedWrites
    const bus = yield* ClusterBus
    const arrivals = yield* Arrivals
    const toDeliveries = yield* makeDeliveries
    const toCancelKeys = yield* makeCancelKeys
    const childRuns = yield* ChildRuns
    const notifyCancelled = yield* makeNotifyCancelled
    const notifyPending = yield* makeNotifyPending
    const write = yield* makeWrite(notifyPending)

    const metrics = yield* NodeMetrics

    const permits = new KeyedSemaphore(admissionsPerEnv)
    let dropped = 0
    metrics.register(
      Effect.sync(() => [
        {
          type: "counter",
          name: "weft_deliveries_dropped_total",
          help: "Deliveries that idempotency or flow control left out",
          labels: {},
          value: dropped
        }
      ])
    )

    const admit = Effect.fnUntraced(function* (publication: Publication, deliveries: ReadonlyArray<KeyedDelivery>) {
      const cancels = yield* toCancelKeys(publication)
      const { event, isNew, waiting, joined, isPending, replaced } = yield* unconfirmed.track(
        permits.withPermit(publication.event.env_id, admitTo(admissions, publication, deliveries, cancels)),
        // The event may have waited for an earlier query of its keys.
        publication.event.created_at
      )
      if (!isNew) return event
      dropped += deliveries.length - waiting - joined + replaced.events.length
      arrivals.published(event)
      yield* bus.publish(publicationActivity(publication.event, publication.beginsStream))
      if (replaced.runs.length > 0) yield* notifyCancelled(replaced.runs)
      childRuns.ended(replaced.events.map((event_id) => ({ env_id: event.env_id, event_id })))
      if (isPending) yield* notifyPending([event])
      if (publication.schedule?._tag === "Created") yield* bus.sendControl([{ type: "schedules:changed" }])
      return event
    })

    const append = Effect.fnUntraced(function* (publication: Publication) {
      const deliveries = yield* toDeliveries(publication)
      if (isConditional(publication, deliveries)) return yield* admit(publication, deliveries)
      yield* write([toEntry(publication, deliveries)])
      arrivals.published(publication.event)
      return publication.event
    }, Effect.uninterruptible)

    const appendAll = Effect.fnUntraced(function* (publications: ReadonlyArray<Publication>) {
      const events = publications.map(({ event }) => event)
      const plain: Array<EventEntry> = []
      const conditional: Array<Effect.Effect<void, BadRequest | StoreUnavailable>> = []
      for (const [index, publication] of publications.entries()) {
        const deliveries = yield* toDeliveries(publication)
        if (!isConditional(publication, deliveries)) plain.push(toEntry(publication, deliveries))
        else
          conditional.push(Effect.map(admit(publication, deliveries), (event) => void events.splice(index, 1, event)))
      }
      const admitted = Effect.all(conditional, { concurrency: admissionsMax, discard: true })
      yield* Effect.all([write(plain), admitted], { concurrency: 2, discard: true })
      for (const { event } of plain) arrivals.published(event)
      return events
    }, Effect.uninterruptible)

    return EventLog.of({ append, appendAll, earlier: (envId, request) => findEarlier(admissions, envId, request) })
  })
)

/**
 * Maximum concurrent admissions of an environment. Each is a transaction, and those of other environments would wait for
 * the writer of SQLite or for a connection.
 */
const admissionsPerEnv = 4

/** Maximum pending admissions of one call that publishes many events. */
const admissionsMax = 16

const isConditional = (
  { request, schedule, cancels }: Publication,
  deliveries: ReadonlyArray<KeyedDelivery>
): boolean =>
  request !== null ||
  schedule !== undefined ||
  cancels !== undefined ||
  deliveries.some(({ onceKey, rules }) => onceKey !== null || rules.length > 0)

/** True if the delivery can be claimed at creation. Only a claim can decide about the others. */
const isClaimable = ({ group, throttle }: Delivery): boolean => group === null && throttle === undefined

/** Journal entry of a publication without conditions. */
interface EventEntry {
  readonly event: Event
  readonly deliveries: ReadonlyArray<Delivery>
  readonly activity: EntryActivity
}

const toEntry = (publication: Publication, deliveries: ReadonlyArray<KeyedDelivery>): EventEntry => ({
  event: publication.event,
  deliveries: deliveries.map(({ delivery }) => delivery),
  activity: () => publicationActivity(publication.event, publication.beginsStream)
})

/** Returns a function that notifies this node and the others of pending deliveries of events of one environment. */
const makeNotifyPending = Effect.gen(function* () {
  const lease = yield* NodeLease
  const slots = yield* Slots
  const claimer = yield* Claimer
  const bus = yield* ClusterBus

  return (events: ReadonlyArray<Event>) =>
    Effect.suspend(() => {
      const due = events.find((event) => event.event_time <= event.created_at)
      if (due !== undefined) claimer.claim(slots.addPending(due.env_id))
      for (const event of events) if (event.event_time > event.created_at) claimer.claimAt(event.event_time)
      return bus.sendControl([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    })
})

/** Returns a function that writes events and deliveries with the journal. Some may be stored as already claimed. */
const makeWrite = Effect.fnUntraced(function* (notifyPending: (events: ReadonlyArray<Event>) => Effect.Effect<void>) {
  const journal = yield* Journal
  const lease = yield* NodeLease
  const slots = yield* Slots
  const fresh = yield* freshIdsNow
  const localRuns = yield* LocalRuns
  const pauses = yield* ActivePauses

  /** Writes one entry. `done` receives true if some of its deliveries are pending. */
  const append = (
    { event, deliveries, activity }: EventEntry,
    done: (exit: Exit.Exit<boolean, StoreUnavailable>) => void
  ) => {
    const isReady = (delivery: Delivery) => isClaimable(delivery) && pauses.find(delivery) === undefined
    const ready = event.event_time > event.created_at ? 0 : deliveries.filter(isReady).length
    const each = countSlots(event)
    const reserved = ready === 0 ? 0 : slots.reserve(event.env_id, ready, each)
    let unused = reserved
    const entries = deliveries.map((delivery) => {
      const isClaimed = unused > 0 && isReady(delivery)
      if (isClaimed) unused--
      return { delivery, run: isClaimed ? startRun(delivery, fresh(RunId), lease.nodeId, event.created_at) : null }
    })
    const claimed = entries.flatMap(({ run }) => (run === null ? [] : [run.run_id]))
    localRuns.begin(claimed)
    const written: WriteCallback = (exit) => {
      if (Exit.isFailure(exit)) {
        localRuns.end(claimed)
        if (reserved > 0) slots.release(event.env_id, reserved * each)
        return done(exit)
      }
      for (const { delivery, run } of entries) if (run !== null) slots.begin({ delivery, event, run })
      done(Exit.succeed(reserved < deliveries.length))
    }
    journal.append({ _tag: "Appended", event, deliveries: entries }, written, activity)
  }

  return (entries: ReadonlyArray<EventEntry>): Effect.Effect<void, StoreUnavailable> =>
    entries.length === 0
      ? Effect.void
      : Effect.callback((resume) => {
          const pending: Array<Event> = []
          let unwritten = entries.length
          let failed: Exit.Exit<never, StoreUnavailable> | null = null
          for (const entry of entries) {
            append(entry, (exit) => {
              if (Exit.isFailure(exit)) failed = Exit.failCause(exit.cause)
              else if (exit.value) pending.push(entry.event)
              if (--unwritten > 0) return
              const notified = pending.length === 0 ? Effect.void : notifyPending(pending)
              resume(failed === null ? notified : Effect.andThen(notified, failed))
            })
          }
        })
})
