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
import type { Event } from "../events/Event.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { type AwaitedEvents, WorkflowStore } from "../runs/WorkflowStore.ts"
import { NewWaits } from "./NewWaits.ts"

/** Maximum events per query of a comparison. */
const eventsMax = 1_000

/** Time in milliseconds after which every node knows that a type is awaited. */
const noticeMs = 1_000

/**
 * Time in milliseconds for which the comparison looks back beyond the previous one. An event gets its time before its
 * commit, which may take long.
 */
const overlapMs = 120_000

/** Pause after each comparison with new waits, as a multiple of its duration. */
const comparePauses = 4

export class Arrivals extends Context.Service<
  Arrivals,
  {
    /** Gives a stored event to the waits that it matches. Returns at once. */
    readonly published: (event: Event) => void
    /** Records that a run of the environment waits for events of a type since a time, after the wait is stored. */
    readonly awaits: (wait: AwaitedEvents) => Effect.Effect<void>
    /** Gives all events to the waits that are stored by now, since the time of a wait whose timeout has ended. */
    readonly settle: (wait: AwaitedEvents) => Effect.Effect<void, StoreUnavailable>
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
      const awaited = new AwaitedTypes()
      const polled = Latch.makeUnsafe(true)
      const newWaits = new NewWaits()
      const hasNewWaits = Latch.makeUnsafe(false)
      let comparedUntil: Timestamp | null = null

      const arrive = Effect.fnUntraced(function* (event: Event): Effect.fn.Return<void, StoreUnavailable> {
        const runs = yield* store.arrive(event, yield* currentTime)
        if (runs.length === 0) return
        yield* bus.sendControl([
          { type: "workflows:arrived", run_ids: runs.map(({ run_id }) => run_id) },
          { type: "deliveries:waiting", node_id: null }
        ])
      })

      /** Compares all stored events since a time with the waits. */
      const compareSince = Effect.fnUntraced(function* (awaitedEvents: AwaitedEvents) {
        let after: EventId | null = null
        while (true) {
          const events: ReadonlyArray<Event> = yield* store.eventsSince(awaitedEvents, after, eventsMax)
          for (const event of events) yield* arrive(event)
          if (events.length < eventsMax) return
          after = events.at(-1)?.event_id ?? null
        }
      })

      /** Compares the stored events that no earlier comparison of this node is sure to have seen. */
      const compare = (each: AwaitedEvents) => {
        const from = comparedUntil === null ? each.since : addMillis(comparedUntil, -overlapMs)
        return compareSince({ ...each, since: from > each.since ? from : each.since })
      }

      const compareWait = (wait: AwaitedEvents) => Effect.catchTag(compareSince(wait), "StoreUnavailable", logOutage)

      /** Compares events with the waits that are new since the last call. They may be many per second. */
      const compareNew = Effect.gen(function* () {
        yield* hasNewWaits.await
        // Waits of one commit are compared together.
        yield* Effect.yieldNow
        hasNewWaits.closeUnsafe()
        const began = yield* currentTime
        for (const wait of newWaits.take()) yield* compareWait(wait)
        const pauseMs = ((yield* currentTime) - began) * comparePauses
        if (pauseMs > 0) yield* Effect.sleep(pauseMs)
      })

      const compareAll = Effect.gen(function* () {
        yield* polled.await
        polled.closeUnsafe()
        const began = yield* currentTime
        awaited.beginRefresh()
        const stored = yield* store.awaited
        awaited.endRefresh(stored)
        for (const each of stored) yield* compare(each)
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
      yield* forkSupervised({ name: "The comparison of events with new waits" }, compareNew)

      return Arrivals.of({
        settle: compare,
        published: (event) => {
          if (!awaited.has(event.env_id, event.event_type)) return
          const arrived = Effect.catchTag(arrive(event), "StoreUnavailable", logOutage)
          Effect.runForkWith(context)(Effect.forkIn(arrived, scope))
        },
        awaits: Effect.fnUntraced(function* (wait) {
          const { env_id, event_type } = wait
          if (!awaited.has(env_id, event_type)) {
            awaited.add(env_id, event_type)
            yield* bus.sendControl([{ type: "workflows:awaiting", env_id, event_type }])
            // Events of the meantime, also of nodes that the message had not reached.
            yield* Effect.forkIn(Effect.delay(compareWait(wait), noticeMs), scope)
          }
          newWaits.add(wait)
          hasNewWaits.openUnsafe()
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
