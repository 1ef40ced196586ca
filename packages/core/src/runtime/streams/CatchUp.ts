/**
 * Replays missed activity from the store: to clients that reconnect from another node, and to all subscribers after an
 * outage of the bus. See `docs/design/streams.md`.
 */
import { Deferred, Effect, type Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { activityBytes, activityKey } from "../runs/Activity.ts"
import { CatchUpBudget } from "./CatchUpBudget.ts"
import { type Channel, type Interest, isWanted } from "./Channel.ts"
import { Message, type PositionParts, storeChannel } from "./Message.ts"
import { type StoredActivity, StreamStore } from "./StreamStore.ts"
import type { MessageBatch, Subscriber } from "./Subscription.ts"

/** Maximum clock difference between nodes plus delay of commit and broadcast, in milliseconds. */
const slackMs = 10_000

/** Oldest activity that is replayed, in milliseconds. */
const oldestMs = 3_600_000

/** Maximum repairs to remember; older ones are dropped. */
const repairsMax = 100

/** Bytes per missed message of a subscriber to a whole environment: one array slot. All share the message itself. */
const sharedMessageBytes = 32

/** Maximum concurrent queries of the store. */
const queriesMax = 4

export interface CatchUp {
  /**
   * Returns a subscriber that receives all activity since `position`, of this node or another, and all new activity. If
   * the budget is exhausted the connection ends, and the client retries later.
   */
  readonly resume: (
    envId: EnvId,
    channel: Channel,
    interest: Interest,
    position: PositionParts,
    now: number
  ) => ReconnectingSubscriber
  /**
   * Records a repair: activity since `since` is broadcast again now. A client that reconnects later replays from `since`,
   * even if its position is newer.
   */
  readonly recordRepair: (since: number, now: number) => void
  /** Reads the stored activity of the environment since `since` that the channel did not distribute. */
  readonly readMissing: (
    envId: EnvId,
    channel: Channel,
    since: number,
    now: number
  ) => Effect.Effect<ReadonlyArray<ActivityEvent>, StoreUnavailable>
}

export interface ReconnectingSubscriber {
  readonly subscriber: Subscriber
  readonly completed: Effect.Effect<void, StoreUnavailable>
  /** Frees its part of the budget. Call it when the client disconnects. */
  readonly release: () => void
}

interface SharedQuery {
  from: number
  readonly result: Deferred.Deferred<MessageBatch, StoreUnavailable>
}

export const makeCatchUp = Effect.fnUntraced(function* (bounds: {
  readonly limit: number
  readonly bytes: number
}): Effect.fn.Return<CatchUp, never, StreamStore | Scope.Scope> {
  const store = yield* StreamStore
  const querySlots = yield* Semaphore.make(queriesMax)
  const scope = yield* Effect.scope
  const budget = new CatchUpBudget()
  const toStoreMessage = makeStoreMessages()
  const since = (envId: EnvId, from: number, stream: Interest["stream"]) =>
    store.since(envId, { from: Timestamp.make(from), stream, ...bounds })
  const messagesSince = (envId: EnvId, from: number, stream: Interest["stream"]) =>
    Effect.map(since(envId, from, stream), (stored) => stored.map(fromStore))

  /** Queries that have not begun. Clients reconnect all at once: those of an environment share one query. */
  const queries = new Map<EnvId, SharedQuery>()
  const envSince = (envId: EnvId, from: number) =>
    Effect.suspend(() => {
      const shared = queries.get(envId)
      if (shared !== undefined) {
        shared.from = Math.min(shared.from, from)
        return Deferred.await(shared.result)
      }
      const query: SharedQuery = { from, result: Deferred.makeUnsafe() }
      queries.set(envId, query)
      const execute = Effect.suspend(() => {
        queries.delete(envId)
        return Deferred.into(messagesSince(envId, query.from, null), query.result)
      })
      // In a fiber of its own, because the first client may disconnect before the others.
      return Effect.andThen(Effect.forkIn(querySlots.withPermit(execute), scope), Deferred.await(query.result))
    })

  let repairs: ReadonlyArray<{ readonly since: number; readonly at: number }> = []
  /** Returns the start of the replay for a client whose position on another node has `time`. */
  const replayStart = (time: number, now: number): number => {
    const repaired = repairs.filter(({ at }) => time < at + slackMs).map(({ since }) => since)
    return Math.max(Math.min(time, ...repaired) - slackMs, now - oldestMs)
  }

  return {
    recordRepair: (since, at) => {
      repairs = [...repairs.filter((repair) => repair.at > at - oldestMs), { since, at }].slice(-repairsMax)
    },
    resume: (envId, channel, interest, position, now) => {
      if (channel.canResume(position)) {
        return { subscriber: channel.resume(interest, position), completed: Effect.void, release: () => undefined }
      }
      const from = replayStart(position.time, now)
      const buffered = channel.bufferedSince(interest, from)
      const subscriber = channel.join(interest, { channel: storeChannel, seq: 0, time: position.time })
      subscriber.beginCatchUp()
      const isWhole = interest.stream === null
      // Always query: even a node that was never disconnected lacks what a crashed node had committed but not published.
      const query = isWhole ? envSince(envId, from) : querySlots.withPermit(messagesSince(envId, from, interest.stream))
      let reserved = 0
      const release = (): void => {
        budget.release(envId, reserved)
        reserved = 0
      }
      const completed = Effect.map(query, (all) => {
        const stored = all.filter(({ time, activity }) => time >= from && isWanted(interest, activity))
        const missed = merge(stored, buffered.map(toStoreMessage), subscriber.queued)
        const bytes = missed.reduce(
          (sum, { activity }) => sum + (isWhole ? sharedMessageBytes : activityBytes(activity)),
          0
        )
        if (!budget.reserve(envId, bytes)) return subscriber.finish("cut")
        reserved = bytes
        subscriber.prepend(missed, release)
      })
      return { subscriber, completed, release }
    },
    readMissing: (envId, channel, from, now) =>
      Effect.map(querySlots.withPermit(since(envId, Math.max(from - slackMs, now - oldestMs), null)), (stored) =>
        channel.selectMissing(stored)
      )
  }
})

const fromStore = ({ at, activity }: StoredActivity): Message => new Message(storeChannel, 0, activity, at)

/** Returns a function that gives a buffered message a position of the store: one object per message, for all clients. */
const makeStoreMessages = () => {
  const converted = new WeakMap<Message, Message>()
  return (message: Message): Message => {
    const known = converted.get(message) ?? new Message(storeChannel, 0, message.activity, message.time)
    converted.set(message, known)
    return known
  }
}

/**
 * Merges stored and buffered messages by time, without those that are also buffered or queued. Their positions are times
 * of the store, never numbers of a channel.
 */
const merge = (stored: MessageBatch, buffered: MessageBatch, queued: MessageBatch): MessageBatch => {
  const known = new Set([...buffered, ...queued].map(({ activity }) => activityKey(activity)))
  return [...stored.filter(({ activity }) => !known.has(activityKey(activity))), ...buffered].sort(
    (a, b) => a.time - b.time
  )
}
