/**
 * Events that have to reach waits, and comparisons of stored events with waits, in a queue for each environment.
 *
 * An environment has one piece of this work in progress, in its turn. An event that finds a full queue is dropped: the
 * comparison of its type finds it in the store. So the queue is bounded, and nothing is missed.
 */
import { Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { AwaitedEvents } from "../runs/WorkflowStore.ts"

/** Maximum queued events of an environment, and maximum characters of their data. */
const eventsMax = 1_000
const lengthMax = 8 * 1024 * 1024

/** Work of an environment. A failure is handled by the work itself. */
export interface ArrivalWork {
  readonly arrive: (event: Event) => Effect.Effect<void>
  /** Compares stored events with the waits. */
  readonly compare: (wait: AwaitedEvents) => Effect.Effect<void>
  /** Waits for the turn of the environment. */
  readonly turn: (envId: EnvId) => Effect.Effect<void>
  /** Runs the effect in the background. */
  readonly fork: (effect: Effect.Effect<void>) => void
}

interface EnvQueue {
  events: Array<Event>
  length: number
  /** Types to compare, and since when. */
  readonly comparisons: Map<string, Timestamp>
}

export class ArrivalQueue {
  readonly #work: ArrivalWork
  readonly #envs = new Map<EnvId, EnvQueue>()

  constructor(work: ArrivalWork) {
    this.#work = work
  }

  /** Queues an event. */
  add(event: Event): void {
    const queue = this.#queueOf(event.env_id)
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
    const { comparisons } = this.#queueOf(env_id)
    const known = comparisons.get(event_type)
    if (known === undefined || since < known) comparisons.set(event_type, since)
  }

  /** Returns the queue of an environment, whose work begins with the first entry. */
  #queueOf(envId: EnvId): EnvQueue {
    const known = this.#envs.get(envId)
    if (known !== undefined) return known
    const queue: EnvQueue = { events: [], length: 0, comparisons: new Map() }
    this.#envs.set(envId, queue)
    this.#work.fork(this.#drain(envId, queue))
    return queue
  }

  /** Performs the work of an environment until nothing is queued. */
  #drain(envId: EnvId, queue: EnvQueue): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // The entry is added after this begins.
      yield* Effect.yieldNow
      while (true) {
        const { events } = queue
        queue.events = []
        queue.length = 0
        for (const event of events) {
          yield* this.#work.turn(envId)
          yield* this.#work.arrive(event)
        }
        if (queue.events.length > 0) continue
        const [next] = queue.comparisons
        if (next === undefined) break
        const [event_type, since] = next
        queue.comparisons.delete(event_type)
        yield* this.#work.turn(envId)
        yield* this.#work.compare({ env_id: envId, event_type, since })
      }
      this.#envs.delete(envId)
    })
  }
}
