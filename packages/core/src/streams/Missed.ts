/** What was missed and is told from the store: to whom comes from elsewhere, and to all when the feed was away. */
import { Effect, Semaphore } from "effect"
import type { Activity } from "../activity/Activity.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { type Channel, type Interest, isWanted } from "./Channel.ts"
import { keyOf, Message, type Place, storeName } from "./Message.ts"
import { type Happened, StreamStore } from "./StreamStore.ts"
import type { Portion, Subscriber } from "./Subscription.ts"

/**
 * How much earlier than a position's time something may have happened that was told after it: the clocks of nodes
 * differ, and what has happened takes a moment to be stored and heard of.
 */
const slackMs = 10_000

/** What is older than this is told to nobody. */
const oldestMs = 3_600_000

/** Questions to the store at once. */
const atOnce = 4

export interface Missed {
  /** A subscriber that gets what has happened since `place`, wherever that is, and all that happens from now on. */
  readonly resume: (
    envId: EnvId,
    channel: Channel,
    interest: Interest,
    place: Place,
    now: number
  ) => { readonly subscriber: Subscriber; readonly completed: Effect.Effect<void, StoreUnavailable> }
  /** What has happened in the environment since `since` and was not told by the channel. */
  readonly ofChannel: (
    envId: EnvId,
    channel: Channel,
    since: number,
    now: number
  ) => Effect.Effect<ReadonlyArray<Activity>, StoreUnavailable>
}

export const makeMissed = Effect.fnUntraced(function* (bounds: {
  readonly limit: number
  readonly bytes: number
}): Effect.fn.Return<Missed, never, StreamStore> {
  const store = yield* StreamStore
  const asking = yield* Semaphore.make(atOnce)
  const since = (envId: EnvId, from: number, stream: Interest["stream"]) =>
    asking.withPermit(store.since(envId, { from: Timestamp.make(from), stream, ...bounds }))

  return {
    resume: (envId, channel, interest, place, now) => {
      if (channel.keeps(place)) {
        return { subscriber: channel.resume(interest, place), completed: Effect.void }
      }
      const from = Math.max(place.time - slackMs, now - oldestMs)
      const kept = channel.keptSince(interest, from)
      const subscriber = channel.join(interest, { channel: storeName, seq: 0, time: place.time })
      subscriber.awaitMissed()
      const completed =
        channel.completeSince <= from
          ? Effect.sync(() => subscriber.prepend(kept))
          : Effect.map(since(envId, from, interest.stream), (happened) =>
              subscriber.prepend(merged(interest, happened, kept, subscriber.waiting))
            )
      return { subscriber, completed }
    },
    ofChannel: (envId, channel, from, now) =>
      Effect.map(since(envId, Math.max(from - slackMs, now - oldestMs), null), (happened) => channel.missing(happened))
  }
})

/** What is kept and what only the store tells, in order of time. No place of a channel lies within: only times do. */
const merged = (
  interest: Interest,
  happened: ReadonlyArray<Happened>,
  kept: Portion,
  waiting: ReadonlyArray<Message>
): Portion => {
  const known = new Set([...kept, ...waiting].map(({ activity }) => keyOf(activity)))
  const told = happened.flatMap(({ at, activity }) =>
    isWanted(interest, activity) && !known.has(keyOf(activity)) ? [new Message(storeName, 0, activity, at)] : []
  )
  const again = kept.map(({ activity, time }) => new Message(storeName, 0, activity, time))
  return [...told, ...again].sort((a, b) => a.time - b.time)
}
