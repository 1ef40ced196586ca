/**
 * Gives published events to the runs that wait for them.
 *
 * An event does not wait for this: it is stored first, and then given to the waits that it matches. Each node knows which
 * types are awaited, so other events cost one lookup. The store decides what matches, and a wait takes one event only.
 *
 * A node may die in between, or not know yet that a type is awaited. So each poll of the store compares the stored events
 * with the waits once more.
 */
import { Context, Effect, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, EventId } from "../../foundation/Ids.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { nextTurn, Turns } from "../../platform/turns/Turns.ts"
import type { Event } from "../events/Event.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { type AwaitingRecord, EventValues, isAwaited } from "../runs/EventMatch.ts"
import { type AwaitedEvents, type ExaminedEvents, WorkflowStore } from "../runs/WorkflowStore.ts"
import { ArrivalQueue } from "./ArrivalQueue.ts"
import { toBatches } from "./EventBatches.ts"

/** Maximum events that a comparison reads at once. */
const pageMax = 500

/** Maximum runs per control message. */
const runsPerMessage = 1_000

/** Pause in milliseconds after an outage of the store. */
const retryMs = 5_000

/** Time in milliseconds after which every node knows that a type is awaited. */
const noticeMs = 1_000

/**
 * Time in milliseconds for which the comparison looks back beyond the previous one. An event gets its time before its
 * commit, which may take long.
 */
const overlapMs = 120_000

export class Arrivals extends Context.Service<
  Arrivals,
  {
    /** Gives a stored event to the waits that it matches. Returns at once. */
    readonly published: (event: Event) => void
    /** True if this node knows that a run of the environment waits for events of the type. */
    readonly isAwaited: (envId: EnvId, eventType: string) => boolean
    /** Records that a run of the environment waits for events of a type since a time, after the wait is stored. */
    readonly awaits: (wait: AwaitedEvents) => Effect.Effect<void>
    /** Gives the events that are stored by now to a stored wait whose timeout has ended, if they match it. */
    readonly settle: (wait: AwaitedEvents & AwaitingRecord) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runtime/workflows/Arrivals") {
  static readonly layer = Layer.effect(
    Arrivals,
    Effect.gen(function* () {
      const store = yield* WorkflowStore
      const bus = yield* ClusterBus
      const poller = yield* StorePoller
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      const turns = yield* Turns
      const awaited = new AwaitedTypes()
      const polled = Latch.makeUnsafe(true)
      let comparedUntil: Timestamp | null = null

      const arriveOnce = Effect.fnUntraced(function* (
        events: ReadonlyArray<Event>
      ): Effect.fn.Return<void, StoreUnavailable> {
        const runs = yield* store.arrive(events, yield* currentTime)
        for (let from = 0; from < runs.length; from += runsPerMessage) {
          const run_ids = runs.slice(from, from + runsPerMessage).map(({ run_id }) => run_id)
          yield* bus.sendControl([{ type: "workflows:arrived", run_ids }])
        }
        if (runs.length > 0) yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
      })

      const arriveAlone = (event: Event) =>
        Effect.catchDefect(arriveOnce([event]), (defect) =>
          Effect.logError(`Event ${event.event_id} could not be given to the runs that wait for it`, defect)
        )

      /** A defect with one event does not affect the others. */
      const arrive = (events: ReadonlyArray<Event>) =>
        Effect.catchDefect(arriveOnce(events), () => Effect.forEach(events, arriveAlone, { discard: true }))

      const turn = (envId: EnvId) => nextTurn(turns, envId, "durable")

      /** Compares stored events of an awaited type with the waits, page by page: all of them, or those that are wanted. */
      const compare = Effect.fnUntraced(function* (
        each: AwaitedEvents,
        isWanted: (event: Event) => boolean = () => true
      ): Effect.fn.Return<void, StoreUnavailable> {
        let after: EventId | null = null
        do {
          const { events, next }: ExaminedEvents = yield* store.eventsSince(each, after, pageMax)
          for (const batch of toBatches(events.filter(isWanted))) {
            yield* turn(each.env_id)
            yield* arrive(batch)
          }
          after = next
          yield* turn(each.env_id)
        } while (after !== null)
      })

      /** After an outage of the store, compares the events of the type once more. */
      const orCompareLater = (
        wait: AwaitedEvents,
        effect: Effect.Effect<void, StoreUnavailable>
      ): Effect.Effect<void> =>
        Effect.catchTag(effect, "StoreUnavailable", (error) => {
          queue.compare(wait)
          return Effect.andThen(logOutage(error), Effect.sleep(retryMs))
        })
      const queue = new ArrivalQueue({
        turn,
        fork: (effect) => void Effect.runForkWith(context)(Effect.forkIn(effect, scope)),
        arrive: (events) => {
          const since = events.reduce(
            (least, { created_at }) => (created_at < least ? created_at : least),
            events[0].created_at
          )
          return orCompareLater({ ...events[0], since }, arrive(events))
        },
        compare: (wait) =>
          orCompareLater(
            wait,
            Effect.catchDefect(compare(wait), (defect) =>
              Effect.logError(`Events of the type ${wait.event_type} could not be compared with waits`, defect)
            )
          )
      })

      /** Returns the time from which no comparison of this node is sure to have seen the events of a wait's type. */
      const unseenSince = ({ env_id, event_type, since }: AwaitedEvents): Timestamp => {
        if (comparedUntil === null) return since
        const pending = queue.pendingSince({ env_id, event_type })
        const recent = addMillis(comparedUntil, -overlapMs)
        const from = pending !== null && pending < recent ? pending : recent
        return from > since ? from : since
      }

      const compareAll = Effect.gen(function* () {
        yield* polled.await
        polled.closeUnsafe()
        const began = yield* currentTime
        awaited.beginRefresh()
        const stored = yield* store.awaited
        awaited.endRefresh(stored)
        for (const { env_id, event_type, since } of stored) {
          queue.compare({ env_id, event_type, since: unseenSince({ env_id, event_type, since }) })
        }
        comparedUntil = began
      })

      yield* subscribe(
        (message) =>
          message.type === "workflows:awaiting"
            ? Effect.sync(() => awaited.add(message.env_id, message.event_type))
            : Effect.void,
        Effect.asVoid(polled.open)
      )
      yield* poller.onPoll(({ awaiting }) => {
        if (awaiting) polled.openUnsafe()
      })
      yield* forkSupervised({ name: "The comparison of events with waits" }, compareAll)

      return Arrivals.of({
        settle: (wait) =>
          Effect.suspend(() =>
            compare({ ...wait, since: unseenSince(wait) }, (event) => isAwaited(wait, event, new EventValues(event)))
          ),
        isAwaited: (envId, eventType) => awaited.has(envId, eventType),
        published: (event) => {
          if (awaited.has(event.env_id, event.event_type)) queue.add(event)
        },
        awaits: Effect.fnUntraced(function* (wait) {
          const { env_id, event_type } = wait
          if (!awaited.has(env_id, event_type)) {
            awaited.add(env_id, event_type)
            yield* bus.sendControl([{ type: "workflows:awaiting", env_id, event_type }])
            // Events of the meantime, also of nodes that the message had not reached.
            const later = Effect.sync(() => queue.compare(wait))
            yield* Effect.forkIn(Effect.delay(later, noticeMs), scope)
          }
          queue.compare(wait)
        })
      })
    })
  )
}

/** Types of events that runs wait for, by environment. */
class AwaitedTypes {
  #types = new Map<EnvId, Set<string>>()
  /** Types that were added since a refresh began. */
  #added: Array<readonly [EnvId, string]> = []

  has(envId: EnvId, eventType: string): boolean {
    return this.#types.size > 0 && this.#types.get(envId)?.has(eventType) === true
  }

  add(envId: EnvId, eventType: string): void {
    this.#added.push([envId, eventType])
    const types = this.#types.get(envId)
    if (types === undefined) this.#types.set(envId, new Set([eventType]))
    else types.add(eventType)
  }

  /** Begins to read the awaited types from the store. */
  beginRefresh(): void {
    this.#added = []
  }

  /** Replaces the types, except those that were added in the meantime: the store may have been read before. */
  endRefresh(awaited: ReadonlyArray<AwaitedEvents>): void {
    const added = this.#added
    this.#added = []
    this.#types = new Map()
    for (const { env_id, event_type } of awaited) this.add(env_id, event_type)
    for (const [envId, eventType] of added) this.add(envId, eventType)
  }
}
