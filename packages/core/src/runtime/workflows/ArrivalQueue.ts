/**
 * Events that have to reach waits, and comparisons of stored events with waits, in queues for each environment.
 *
 * An environment has one batch of events and one comparison in progress, in its turn. An event that finds a full queue is
 * dropped: the comparison of its type finds it in the store. So the queue is bounded, and nothing is missed.
 */
import { type Array as Arr, Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { AwaitedEvents } from "../runs/WorkflowStore.ts"
import { toBatches } from "./EventBatches.ts"

/** Maximum queued events of an environment, and maximum characters of their data. */
const eventsMax = 10_000
const lengthMax = 8 * 1024 * 1024

/** Pause after each comparison, as a multiple of its duration: waits of the meantime share the next one. */
const comparePauses = 4

/** Work of an environment. A failure is handled by the work itself. */
export interface ArrivalWork {
  /** Gives events of one type, in their order, to waits. */
  readonly arrive: (events: Arr.NonEmptyReadonlyArray<Event>) => Effect.Effect<void>
  /** Compares stored events with the waits. */
  readonly compare: (wait: AwaitedEvents) => Effect.Effect<void>
  /** Waits for the turn of the environment. */
  readonly turn: (envId: EnvId) => Effect.Effect<void>
  /** Runs the effect in the background. */
  readonly fork: (effect: Effect.Effect<void>) => void
}

interface EventQueue {
  events: Array<Event>
  length: number
}

interface ComparisonQueue {
  /** Types to compare, and since when. */
  readonly types: Map<string, Timestamp>
  /** The comparison in progress. */
  current: AwaitedEvents | null
}

export class ArrivalQueue {
  readonly #work: ArrivalWork
  readonly #events = new Map<EnvId, EventQueue>()
  readonly #comparisons = new Map<EnvId, ComparisonQueue>()

  constructor(work: ArrivalWork) {
    this.#work = work
  }

  /** Queues an event. */
  add(event: Event): void {
    const queue = this.#eventsOf(event.env_id)
    const length = queue.length + event.event_data.length
    // A single event of any size is accepted.
    if (queue.events.length > 0 && (queue.events.length >= eventsMax || length > lengthMax)) {
      this.compare({ ...event, since: event.created_at })
      return
    }
    queue.events.push(event)
    queue.length = length
  }

  /** Queues a comparison. One that is queued for the type already begins at the earlier of both times. */
  compare({ env_id, event_type, since }: AwaitedEvents): void {
    const { types } = this.#comparisonsOf(env_id)
    const known = types.get(event_type)
    if (known === undefined || since < known) types.set(event_type, since)
  }

  /** Returns the time from which events of the type are to be compared, by work that has not ended; null without any. */
  pendingSince({ env_id, event_type }: Pick<AwaitedEvents, "env_id" | "event_type">): Timestamp | null {
    const queue = this.#comparisons.get(env_id)
    const queued = queue?.types.get(event_type) ?? null
    const current = queue?.current?.event_type === event_type ? queue.current.since : null
    if (queued === null || current === null) return queued ?? current
    return queued < current ? queued : current
  }

  /** Returns the events of an environment, whose work begins with the first one. */
  #eventsOf(envId: EnvId): EventQueue {
    const known = this.#events.get(envId)
    if (known !== undefined) return known
    const queue: EventQueue = { events: [], length: 0 }
    this.#events.set(envId, queue)
    this.#work.fork(this.#drainEvents(envId, queue))
    return queue
  }

  #comparisonsOf(envId: EnvId): ComparisonQueue {
    const known = this.#comparisons.get(envId)
    if (known !== undefined) return known
    const queue: ComparisonQueue = { types: new Map(), current: null }
    this.#comparisons.set(envId, queue)
    this.#work.fork(this.#drainComparisons(envId, queue))
    return queue
  }

  #drainEvents(envId: EnvId, queue: EventQueue): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // The first event is added after this begins.
      yield* Effect.yieldNow
      while (queue.events.length > 0) {
        const { events } = queue
        queue.events = []
        queue.length = 0
        for (const batch of toBatches(events)) {
          yield* this.#work.turn(envId)
          yield* this.#work.arrive(batch)
        }
      }
      this.#events.delete(envId)
    })
  }

  #drainComparisons(envId: EnvId, queue: ComparisonQueue): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // Waits of one commit are compared together.
      yield* Effect.yieldNow
      while (true) {
        const [next] = queue.types
        if (next === undefined) break
        const [event_type, since] = next
        queue.types.delete(event_type)
        const current = { env_id: envId, event_type, since }
        queue.current = current
        yield* this.#work.turn(envId)
        const began = yield* currentTime
        yield* this.#work.compare(current)
        queue.current = null
        const pauseMs = ((yield* currentTime) - began) * comparePauses
        if (pauseMs > 0) yield* Effect.sleep(pauseMs)
      }
      this.#comparisons.delete(envId)
    })
  }
}
