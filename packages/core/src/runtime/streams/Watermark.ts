/** Watermark of a node, and the repair of gaps that the bus reports. See `docs/design/streams.md`. */
import { Clock, Effect, type Latch, PubSub, Queue, Schedule } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { busBatchMax } from "./BusReader.ts"
import type { CatchUp } from "./CatchUp.ts"
import type { NotifyQueue } from "./NotifyQueue.ts"
import type { OpenedChannel, OpenedChannels } from "./OpenedChannels.ts"

/** Interval of ticks, and the silence after which the process counts as suspended, in milliseconds. */
const tickMs = 1_000
const stoppedMs = 5_000

/**
 * Returns the watermark: the instant before which this node has distributed all stored activity. It stands still while
 * the bus is disconnected, and until the lost messages were replayed from the store.
 *
 * @param hasChannels open while there are channels
 */
export const makeWatermark = Effect.fnUntraced(function* (
  opened: OpenedChannels,
  catchUp: CatchUp,
  hasChannels: Latch.Latch,
  notifyQueue: NotifyQueue
) {
  const bus = yield* ClusterBus
  const unconfirmed = yield* UnconfirmedWrites
  const clock = yield* Clock.Clock
  const gaps = yield* bus.gaps
  const control = yield* bus.control
  /** Starts of gaps that are not repaired yet. */
  const gapStarts = yield* Queue.unbounded<number>()
  let time = clock.currentTimeMillisUnsafe()
  let isCatchingUp = false
  let tickedAt = time
  let heldUntil = 0

  const advance = (isDrained: boolean): number => {
    const now = clock.currentTimeMillisUnsafe()
    // The process was suspended: messages that arrived meanwhile may still be in buffers of the operating system.
    if (now - tickedAt > stoppedMs) heldUntil = now + stoppedMs
    if (isDrained && !isCatchingUp && now >= heldUntil && bus.disconnectedSince() === null) {
      // The activity of an unconfirmed write may be published after newer activity, perhaps by another node.
      time = Math.max(time, Math.min(now, unconfirmed.oldest() ?? now))
    }
    return time
  }

  const tick = () => {
    tickedAt = clock.currentTimeMillisUnsafe()
  }
  yield* hasChannels.await.pipe(
    Effect.andThen(Effect.sync(tick)),
    Effect.andThen(Effect.sleep(tickMs)),
    Effect.forever,
    Effect.forkScoped
  )

  const repairChannel = Effect.fnUntraced(function* (envId: EnvId, { channel }: OpenedChannel, since: number) {
    const missing = yield* catchUp.readMissing(envId, channel, since, clock.currentTimeMillisUnsafe())
    for (let at = 0; at < missing.length; at += busBatchMax) {
      for (const activity of missing.slice(at, at + busBatchMax)) channel.addMissing(activity, time)
      channel.flush()
      yield* notifyQueue.drained
    }
  })

  const untilStoreAnswers = (effect: Effect.Effect<void, StoreUnavailable>) =>
    effect.pipe(
      Effect.tapError(logOutage),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.catchCause((cause) => Effect.logError("The missed activity cannot be replayed", cause))
    )

  const requestRepair = (starts: ReadonlyArray<number>) =>
    Effect.sync(() => {
      if (starts.length === 0) return
      isCatchingUp = true
      Queue.offerAllUnsafe(gapStarts, starts)
    })
  yield* PubSub.takeAll(gaps).pipe(
    Effect.flatMap((reported) => requestRepair(reported.map((gap) => gap.since))),
    Effect.forever,
    Effect.forkScoped
  )
  yield* PubSub.takeAll(control).pipe(
    Effect.flatMap((messages) => {
      const starts = messages.flatMap((each) => (each.type === "activity:missing" ? [each.since] : []))
      for (const since of starts) catchUp.recordRepair(since, clock.currentTimeMillisUnsafe())
      return requestRepair(starts)
    }),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Queue.takeAll(gapStarts).pipe(
    Effect.tap((starts) =>
      Effect.suspend(() => {
        const since = Math.min(...starts)
        return Effect.forEach([...opened], ([envId, entry]) => untilStoreAnswers(repairChannel(envId, entry, since)), {
          concurrency: "unbounded",
          discard: true
        })
      })
    ),
    Effect.tap(() =>
      Effect.sync(() => {
        isCatchingUp = Queue.sizeUnsafe(gapStarts) > 0
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  return { advance, tick }
})
