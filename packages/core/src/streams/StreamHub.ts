/**
 * Who listens to what happens, on this node: reads the feed once and hands it to all subscribers.
 *
 * An environment has a channel from its first subscriber on, until it had none for a while. What happens in the others
 * is passed over, and while there is no channel at all the feed is not even read: who publishes pays for nobody. So a
 * client that comes back within that while misses nothing that is still kept. What the feed lost, and what a client
 * missed that comes from another node, is told from the store.
 */
import { Clock, Context, Duration, Effect, Latch, Layer, type Scope, Semaphore } from "effect"
import { Feed } from "../activity/Feed.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { NodeMetrics } from "../metrics/NodeMetrics.ts"
import { Channel, type Interest } from "./Channel.ts"
import { makeFeedReader } from "./FeedReader.ts"
import { makeHorizon } from "./Horizon.ts"
import { placeOf } from "./Message.ts"
import { makeMissed } from "./Missed.ts"
import { distribute, gauge, type Opened, type OpenedChannels } from "./OpenedChannels.ts"
import type { Subscriber, Subscription } from "./Subscription.ts"
import { Turns } from "./Turns.ts"

export interface StreamsConfig {
  /** Messages that are kept for clients that come back, of each environment; default 10,000. */
  readonly replayMessages?: number
  /** What they may take in memory, in bytes; default 16 MiB. Of all environments together it is sixteen times as much. */
  readonly replayBytes?: number
  /** Whether a whole environment can be subscribed to; default true. False where nodes do not tell each other what happens. */
  readonly wholeEnv?: boolean
}

const MiB = 1024 * 1024

/** What a subscriber may be behind. */
const queue = { messages: 1000, bytes: 16 * MiB }

/** How long a channel lives without subscribers. */
const idle = Duration.minutes(10)
const sweepEvery = Duration.minutes(1)

export class StreamHub extends Context.Service<
  StreamHub,
  {
    /**
     * All activity of the environment that is published after this returns, until the scope closes; before it what was
     * missed since `after`, a position that a former subscription gave, here or on another node.
     */
    readonly subscribe: (
      envId: EnvId,
      interest: Interest,
      after: string | null
    ) => Effect.Effect<Subscription, StoreUnavailable, Scope.Scope>
  }
>()("@weft/core/streams/StreamHub") {
  static readonly layer = (config: StreamsConfig = {}) => Layer.effect(StreamHub, makeHub(config))
}

const makeHub = Effect.fnUntraced(function* ({ replayMessages = 10_000, replayBytes = 16 * MiB }: StreamsConfig) {
  const bounds = { replayMessages, replayBytes, queue }
  const { nodeId } = yield* NodeLease
  const clock = yield* Clock.Clock
  const missed = yield* makeMissed({ limit: replayMessages, bytes: replayBytes })
  const opened: OpenedChannels = new Map()
  let channels = 0
  const semaphore = yield* Semaphore.make(1)
  const hasChannels = Latch.makeUnsafe(false)
  const turns = yield* Turns.make
  const horizon = yield* makeHorizon(opened, missed, hasChannels, turns)
  const reader = yield* makeFeedReader(turns, (messages) => {
    const time = horizon.advance(reader.isDrained())
    return distribute(opened, messages, time, 16 * replayBytes)
  })
  yield* registerMetrics(opened)

  const open = (envId: EnvId): Opened => {
    const known = opened.get(envId)
    if (known !== undefined) return known
    channels++
    const channel = new Channel(`${nodeId}-${channels}`, bounds, clock.currentTimeMillisUnsafe(), turns)
    const made = { channel, leftAt: null }
    opened.set(envId, made)
    if (hasChannels.openUnsafe()) horizon.tick()
    return made
  }

  const join = (envId: EnvId, interest: Interest, after: string | null) => {
    const entry = open(envId)
    entry.leftAt = null
    const time = horizon.advance(reader.isDrained())
    const place = after === null ? null : placeOf(after)
    return place === null
      ? { entry, subscriber: entry.channel.subscribe(interest, time), completed: Effect.void, left: () => undefined }
      : { entry, ...missed.resume(envId, entry.channel, interest, place, clock.currentTimeMillisUnsafe()) }
  }

  const leave = (entry: Opened, interest: Interest, subscriber: Subscriber) => {
    entry.channel.unsubscribe(interest, subscriber)
    if (entry.channel.subscribers === 0) entry.leftAt = clock.currentTimeMillisUnsafe()
  }
  const sweep = Effect.suspend(() => {
    const before = clock.currentTimeMillisUnsafe() - Duration.toMillis(idle)
    for (const [envId, { leftAt }] of opened) if (leftAt !== null && leftAt <= before) opened.delete(envId)
    if (opened.size > 0) return Effect.void
    hasChannels.closeUnsafe()
    return reader.detach
  })
  const sweeping = Effect.andThen(Effect.sleep(sweepEvery), semaphore.withPermit(sweep))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(hasChannels.await, sweeping)))
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      for (const { channel } of opened.values()) channel.close()
      return reader.detach
    })
  )

  return StreamHub.of({
    subscribe: (envId, interest, after) =>
      Effect.acquireRelease(
        semaphore.withPermit(Effect.map(reader.attach, () => join(envId, interest, after))),
        ({ entry, subscriber, left }) =>
          Effect.sync(() => {
            leave(entry, interest, subscriber)
            left()
          })
      ).pipe(Effect.flatMap(({ subscriber, completed }) => Effect.as(completed, subscriber)))
  })
})

const registerMetrics = Effect.fnUntraced(function* (opened: OpenedChannels) {
  const feed = yield* Feed
  const metrics = yield* NodeMetrics
  metrics.register(Effect.sync(() => [gauge(opened)]))
  metrics.register(feed.counted)
})
