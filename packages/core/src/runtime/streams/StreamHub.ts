/**
 * Reads the bus once per node and distributes activity to all subscribers. See `docs/design/streams.md`.
 *
 * An environment has a channel from its first subscriber until 10 minutes after the last one. A client that reconnects
 * within this time continues from the buffer. Activity of other environments is skipped, and the bus is read only while
 * there is a channel, so that publishing costs nothing without subscribers. Activity that the bus lost, and what a client
 * from another node missed, is replayed from the store.
 */
import { Clock, Context, Duration, Effect, Latch, Layer, type Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { makeBusReader } from "./BusReader.ts"
import { makeCatchUp } from "./CatchUp.ts"
import { Channel, type Interest } from "./Channel.ts"
import { parsePosition } from "./Message.ts"
import { NotifyQueue } from "./NotifyQueue.ts"
import { countSubscriptions, distribute, type OpenedChannel, type OpenedChannels } from "./OpenedChannels.ts"
import type { Subscriber, Subscription } from "./Subscription.ts"
import { makeWatermark } from "./Watermark.ts"

export interface StreamsConfig {
  /** Messages buffered per environment for clients that reconnect; default 10,000. */
  readonly replayMessages?: number
  /** Maximum bytes of these messages; default 16 MiB. All environments together have 16 times as much. */
  readonly replayBytes?: number
  /** True if clients may subscribe to a whole environment; default true. False if nodes do not share a cluster bus. */
  readonly wholeEnv?: boolean
}

const MiB = 1024 * 1024

/** Maximum queue of a subscriber. A slower one is disconnected. */
const queue = { messages: 1000, bytes: 16 * MiB }

/** Lifetime of a channel without subscribers. */
const idleTimeout = Duration.minutes(10)
const sweepEvery = Duration.minutes(1)

export class StreamHub extends Context.Service<
  StreamHub,
  {
    /**
     * Returns a subscription to all activity of the environment that is published after this returns, until the scope
     * closes. The activity missed since `after` comes first: a position of an earlier subscription, on any node.
     */
    readonly subscribe: (
      envId: EnvId,
      interest: Interest,
      after: string | null
    ) => Effect.Effect<Subscription, StoreUnavailable, Scope.Scope>
  }
>()("@weft/core/runtime/streams/StreamHub") {
  static readonly layer = (config: StreamsConfig = {}) => Layer.effect(StreamHub, makeHub(config))
}

const makeHub = Effect.fnUntraced(function* ({ replayMessages = 10_000, replayBytes = 16 * MiB }: StreamsConfig) {
  const bounds = { replayMessages, replayBytes, queue }
  const { nodeId } = yield* NodeLease
  const clock = yield* Clock.Clock
  const catchUp = yield* makeCatchUp({ limit: replayMessages, bytes: replayBytes })
  const opened: OpenedChannels = new Map()
  let channels = 0
  const semaphore = yield* Semaphore.make(1)
  const hasChannels = Latch.makeUnsafe(false)
  const notifyQueue = yield* NotifyQueue.make
  const watermark = yield* makeWatermark(opened, catchUp, hasChannels, notifyQueue)
  const reader = yield* makeBusReader(notifyQueue, (messages) => {
    const time = watermark.advance(reader.isDrained())
    return distribute(opened, messages, time, 16 * replayBytes)
  })
  yield* registerMetrics(opened)

  const open = (envId: EnvId): OpenedChannel => {
    const known = opened.get(envId)
    if (known !== undefined) return known
    channels++
    const now = clock.currentTimeMillisUnsafe()
    const channel = new Channel(`${nodeId}-${channels}`, bounds, now, notifyQueue.of(envId))
    const made = { channel, idleSince: null }
    opened.set(envId, made)
    if (hasChannels.openUnsafe()) watermark.tick()
    return made
  }

  const join = (envId: EnvId, interest: Interest, after: string | null) => {
    const entry = open(envId)
    entry.idleSince = null
    const time = watermark.advance(reader.isDrained())
    const position = after === null ? null : parsePosition(after)
    return position === null
      ? { entry, subscriber: entry.channel.subscribe(interest, time), completed: Effect.void, release: () => undefined }
      : { entry, ...catchUp.resume(envId, entry.channel, interest, position, clock.currentTimeMillisUnsafe()) }
  }

  const unsubscribe = (entry: OpenedChannel, interest: Interest, subscriber: Subscriber) => {
    entry.channel.unsubscribe(interest, subscriber)
    if (entry.channel.subscribers === 0) entry.idleSince = clock.currentTimeMillisUnsafe()
  }
  const sweep = Effect.suspend(() => {
    const before = clock.currentTimeMillisUnsafe() - Duration.toMillis(idleTimeout)
    for (const [envId, { idleSince }] of opened) if (idleSince !== null && idleSince <= before) opened.delete(envId)
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
        ({ entry, subscriber, release }) =>
          Effect.sync(() => {
            unsubscribe(entry, interest, subscriber)
            release()
          })
      ).pipe(Effect.flatMap(({ subscriber, completed }) => Effect.as(completed, subscriber)))
  })
})

const registerMetrics = Effect.fnUntraced(function* (opened: OpenedChannels) {
  const bus = yield* ClusterBus
  const metrics = yield* NodeMetrics
  metrics.register(Effect.sync(() => [countSubscriptions(opened)]))
  metrics.register(bus.metrics)
})
