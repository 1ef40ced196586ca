/**
 * Who listens to what happens, on this node: reads the feed once and hands it to all subscribers.
 *
 * An environment has a channel from its first subscriber on, until it had none for a while. What happens in the others
 * is passed over, and while there is no channel at all the feed is not even read: who publishes pays for nobody. So a
 * client that comes back within that while misses nothing that is still kept.
 */
import { Clock, Context, Duration, Effect, Exit, Latch, Layer, PubSub, Scope, Semaphore } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import type { EnvId } from "../ids/Ids.ts"
import { NodeMetrics } from "../metrics/NodeMetrics.ts"
import { NodeLease } from "../runs/NodeLease.ts"
import { Channel, type Interest } from "./Channel.ts"
import type { Subscription } from "./Subscription.ts"

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

/** Messages of the feed that are handed out at once: well within what a subscriber may be behind. */
const portionMax = 250

/** After each portion the hub rests for this long per subscriber that it woke, so that portions grow with the load. */
const restMsEach = 0.05
const restMsMax = 100

interface Opened {
  readonly channel: Channel
  /** Epoch milliseconds of when its last subscriber left; null while it has some. */
  leftAt: number | null
}

export class StreamHub extends Context.Service<
  StreamHub,
  {
    /**
     * All activity of the environment that is published after this returns, until the scope closes; `after` is a
     * position that a former subscription gave.
     */
    readonly subscribe: (
      envId: EnvId,
      interest: Interest,
      after: string | null
    ) => Effect.Effect<Subscription, never, Scope.Scope>
  }
>()("@weft/core/streams/StreamHub") {
  static readonly layer = (config: StreamsConfig = {}) => {
    const { replayMessages = 10_000, replayBytes = 16 * MiB } = config
    const bounds = { replayMessages, replayBytes, queue }
    return Layer.effect(
      StreamHub,
      Effect.gen(function* () {
        const { nodeId } = yield* NodeLease
        const clock = yield* Clock.Clock
        const metrics = yield* NodeMetrics
        const opened = new Map<EnvId, Opened>()
        let channels = 0
        const semaphore = yield* Semaphore.make(1)
        const attachment = yield* makeAttachment((messages) => distribute(opened, messages, 16 * replayBytes))
        const hasChannels = Latch.makeUnsafe(false)
        metrics.register(Effect.sync(() => [gauge(opened)]))

        const open = (envId: EnvId): Opened => {
          const known = opened.get(envId)
          if (known !== undefined) return known
          channels++
          const made = { channel: new Channel(`${nodeId}-${channels}`, bounds), leftAt: null }
          opened.set(envId, made)
          hasChannels.openUnsafe()
          return made
        }

        const sweep = Effect.suspend(() => {
          const before = clock.currentTimeMillisUnsafe() - Duration.toMillis(idle)
          for (const [envId, { leftAt }] of opened) if (leftAt !== null && leftAt <= before) opened.delete(envId)
          if (opened.size > 0) return Effect.void
          hasChannels.closeUnsafe()
          return attachment.detach
        })
        yield* hasChannels.await.pipe(
          Effect.andThen(Effect.sleep(sweepEvery)),
          Effect.andThen(semaphore.withPermit(sweep)),
          Effect.forever,
          Effect.forkScoped
        )
        yield* Effect.addFinalizer(() =>
          Effect.suspend(() => {
            for (const { channel } of opened.values()) channel.close()
            return attachment.detach
          })
        )

        return StreamHub.of({
          subscribe: (envId, interest, after) =>
            Effect.map(
              Effect.acquireRelease(
                semaphore.withPermit(
                  Effect.map(attachment.attach, () => {
                    const entry = open(envId)
                    entry.leftAt = null
                    return { entry, subscriber: entry.channel.subscribe(interest, after) }
                  })
                ),
                ({ entry, subscriber }) =>
                  Effect.sync(() => {
                    entry.channel.unsubscribe(interest, subscriber)
                    if (entry.channel.subscribers === 0) entry.leftAt = clock.currentTimeMillisUnsafe()
                  })
              ),
              ({ subscriber }) => subscriber
            )
        })
      })
    )
  }
}

const gauge = (opened: ReadonlyMap<EnvId, Opened>) => {
  let value = 0
  for (const { channel } of opened.values()) value += channel.subscribers
  const help = "Subscriptions to streams and environments that are open"
  return { type: "gauge", name: "weft_subscriptions", help, labels: {}, value } as const
}

/** The hub's own subscription to the feed, which it has only while somebody listens. */
const makeAttachment = Effect.fnUntraced(function* (handOut: (messages: ReadonlyArray<Activity>) => number) {
  const feed = yield* Feed
  let attached: Scope.Closeable | null = null

  const attach = Effect.gen(function* () {
    if (attached !== null) return
    const scope = Scope.makeUnsafe()
    const activity = yield* Scope.provide(feed.activity, scope)
    attached = scope
    yield* PubSub.takeBetween(activity, 1, portionMax).pipe(
      Effect.flatMap((messages) => {
        const woken = handOut(messages)
        // More is waiting: the feed must not lose it meanwhile.
        const isBehind = messages.length === portionMax
        const restMs = Math.min(woken * restMsEach, restMsMax) / (isBehind ? 4 : 1)
        // Even the quickest subscriber needs a turn to take them.
        return restMs < 1 ? Effect.yieldNow : Effect.sleep(restMs)
      }),
      Effect.forever,
      Effect.forkIn(scope)
    )
  })
  const detach = Effect.suspend(() => {
    const scope = attached
    attached = null
    return scope === null ? Effect.void : Scope.close(scope, Exit.void)
  })
  return { attach: Effect.uninterruptible(attach), detach }
})

/** Gives how many subscribers got something. */
const distribute = (
  opened: ReadonlyMap<EnvId, Opened>,
  messages: ReadonlyArray<Activity>,
  bytesMax: number
): number => {
  const touched = new Set<Channel>()
  for (const activity of messages) {
    const channel = opened.get(activity.env_id)?.channel
    if (channel === undefined) continue
    channel.add(activity)
    touched.add(channel)
  }
  let woken = 0
  for (const channel of touched) woken += channel.flush()
  if (touched.size > 0) shrinkLargest(opened, bytesMax)
  return woken
}

/** Keeps what all channels keep together within bounds. The largest pays, so that no tenant's noise costs another. */
const shrinkLargest = (opened: ReadonlyMap<EnvId, Opened>, bytesMax: number): void => {
  const total = (): number => [...opened.values()].reduce((sum, { channel }) => sum + channel.bytes, 0)
  for (let excess = total() - bytesMax; excess > 0; excess = total() - bytesMax) {
    const [largest] = [...opened.values()].sort((a, b) => b.channel.bytes - a.channel.bytes)
    largest?.channel.shrink(largest.channel.bytes - excess)
  }
}
