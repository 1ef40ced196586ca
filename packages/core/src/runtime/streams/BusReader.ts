/** Reads the bus for the hub, in batches that grow with the load. */
import { Effect, Exit, Option, PubSub, Scope } from "effect"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { NotifyQueue } from "./NotifyQueue.ts"

/** Maximum messages of the bus that are distributed at once: far below the 1,000 messages of a subscriber's queue. */
export const busBatchMax = 250

/** Pause after each batch, in milliseconds per subscriber that received some of it. Batches so grow with the load. */
const pauseMsEach = 0.005
const pauseMsMax = 100

const pauseAfter = (notified: number): Effect.Effect<void> => {
  const pauseMs = Math.min(notified * pauseMsEach, pauseMsMax)
  return pauseMs < 1 ? Effect.yieldNow : Effect.sleep(pauseMs)
}

interface Attached {
  readonly scope: Scope.Closeable
  readonly activity: PubSub.Subscription<ActivityEvent>
}

/** Returns the hub's own subscription to the bus. It is attached only while the hub has a channel. */
export const makeBusReader = Effect.fnUntraced(function* (
  notifyQueue: NotifyQueue,
  distribute: (messages: ReadonlyArray<ActivityEvent>) => number
) {
  const bus = yield* ClusterBus
  let attached: Attached | null = null

  const attach = Effect.gen(function* () {
    if (attached !== null) return
    const scope = Scope.makeUnsafe()
    const activity = yield* Scope.provide(bus.activity, scope)
    attached = { scope, activity }
    let sinceDrained = 0
    yield* PubSub.takeBetween(activity, 1, busBatchMax).pipe(
      Effect.flatMap((messages) => {
        const notified = distribute(messages)
        sinceDrained += messages.length
        if (sinceDrained < busBatchMax) return pauseAfter(notified)
        sinceDrained = 0
        // Otherwise the last subscribers of the queue would be too far behind.
        return notifyQueue.drained
      }),
      Effect.forever,
      Effect.forkIn(scope)
    )
  })
  const detach = Effect.suspend(() => {
    const scope = attached?.scope
    attached = null
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  /** True if every message that arrived so far was distributed. */
  const isDrained = (): boolean =>
    attached === null || Option.getOrElse(PubSub.remainingUnsafe(attached.activity), () => 0) === 0

  return { attach: Effect.uninterruptible(attach), detach, isDrained }
})
