/** What was missed and is told from the store: to whom comes from elsewhere, and to all when the feed was away. */
import { Deferred, Effect, type Scope, Semaphore } from "effect"
import type { Activity } from "../activity/Activity.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { type Channel, type Interest, isWanted } from "./Channel.ts"
import { keyOf, Message, type Place, storeName, weightOf } from "./Message.ts"
import { Resumed } from "./Resumed.ts"
import { type Happened, StreamStore } from "./StreamStore.ts"
import type { Portion, Subscriber } from "./Subscription.ts"

/**
 * How much earlier than a position's time something may have happened that was told after it: the clocks of nodes
 * differ, and what has happened takes a moment to be stored and heard of.
 */
const slackMs = 10_000

/** What is older than this is told to nobody. */
const oldestMs = 3_600_000

/** Of more the oldest are forgotten. */
const notesMax = 100

/** What each subscriber of a whole environment has of a message that it missed: all share the message itself. */
const placeBytes = 32

/** Questions to the store at once. */
const atOnce = 4

export interface Missed {
  /**
   * A subscriber that gets what has happened since `place`, wherever that is, and all that happens from now on. Where
   * too many have missed too much it is cut off, to come back when others have left.
   */
  readonly resume: (envId: EnvId, channel: Channel, interest: Interest, place: Place, now: number) => Resuming
  /**
   * What has happened since `since` may have been told to nobody, and is told now: who was not there is to be told of it
   * when it comes, though its position be later.
   */
  readonly note: (since: number, now: number) => void
  /** What has happened in the environment since `since` and was not told by the channel. */
  readonly ofChannel: (
    envId: EnvId,
    channel: Channel,
    since: number,
    now: number
  ) => Effect.Effect<ReadonlyArray<Activity>, StoreUnavailable>
}

export interface Resuming {
  readonly subscriber: Subscriber
  readonly completed: Effect.Effect<void, StoreUnavailable>
  /** To be called when it has left. */
  readonly left: () => void
}

interface Question {
  from: number
  readonly answer: Deferred.Deferred<Portion, StoreUnavailable>
}

export const makeMissed = Effect.fnUntraced(function* (bounds: {
  readonly limit: number
  readonly bytes: number
}): Effect.fn.Return<Missed, never, StreamStore | Scope.Scope> {
  const store = yield* StreamStore
  const asking = yield* Semaphore.make(atOnce)
  const scope = yield* Effect.scope
  const resumed = new Resumed()
  const again = makeAgain()
  const since = (envId: EnvId, from: number, stream: Interest["stream"]) =>
    store.since(envId, { from: Timestamp.make(from), stream, ...bounds })
  const messagesSince = (envId: EnvId, from: number, stream: Interest["stream"]) =>
    Effect.map(since(envId, from, stream), (happened) => happened.map(toldFromStore))

  /** Clients come back all at once: those who come before a question is put share its answer. */
  const questions = new Map<EnvId, Question>()
  const ofEnv = (envId: EnvId, from: number) =>
    Effect.suspend(() => {
      const open = questions.get(envId)
      if (open !== undefined) {
        open.from = Math.min(open.from, from)
        return Deferred.await(open.answer)
      }
      const question: Question = { from, answer: Deferred.makeUnsafe() }
      questions.set(envId, question)
      const put = Effect.suspend(() => {
        questions.delete(envId)
        return Deferred.into(messagesSince(envId, question.from, null), question.answer)
      })
      // Whoever was first may leave.
      return Effect.andThen(Effect.forkIn(asking.withPermit(put), scope), Deferred.await(question.answer))
    })

  let notes: ReadonlyArray<{ readonly since: number; readonly at: number }> = []
  /** Since when to tell who has got to `time` elsewhere. */
  const startOf = (time: number, now: number): number => {
    const untold = notes.filter(({ at }) => time < at + slackMs).map(({ since }) => since)
    return Math.max(Math.min(time, ...untold) - slackMs, now - oldestMs)
  }

  return {
    note: (since, at) => {
      notes = [...notes.filter((note) => note.at > at - oldestMs), { since, at }].slice(-notesMax)
    },
    resume: (envId, channel, interest, place, now) => {
      if (channel.keeps(place)) {
        return { subscriber: channel.resume(interest, place), completed: Effect.void, left: () => undefined }
      }
      const from = startOf(place.time, now)
      const kept = channel.keptSince(interest, from)
      const subscriber = channel.join(interest, { channel: storeName, seq: 0, time: place.time })
      subscriber.awaitMissed()
      const isWhole = interest.stream === null
      // Not even a node that heard everything knows all: who died was perhaps about to tell it.
      const happened = isWhole ? ofEnv(envId, from) : asking.withPermit(messagesSince(envId, from, interest.stream))
      let held = 0
      const release = (): void => {
        resumed.release(envId, held)
        held = 0
      }
      const completed = Effect.map(happened, (all) => {
        const told = all.filter(({ time, activity }) => time >= from && isWanted(interest, activity))
        const portion = merged(told, kept.map(again), subscriber.waiting)
        const bytes = portion.reduce((sum, { activity }) => sum + (isWhole ? placeBytes : weightOf(activity)), 0)
        if (!resumed.hold(envId, bytes)) return subscriber.finish("cut")
        held = bytes
        subscriber.prepend(portion, release)
      })
      return { subscriber, completed, left: release }
    },
    ofChannel: (envId, channel, from, now) =>
      Effect.map(asking.withPermit(since(envId, Math.max(from - slackMs, now - oldestMs), null)), (happened) =>
        channel.missing(happened)
      )
  }
})

const toldFromStore = ({ at, activity }: Happened): Message => new Message(storeName, 0, activity, at)

/** Messages that a channel keeps as they are told beside those of the store: of each there is one, for all. */
const makeAgain = () => {
  const made = new WeakMap<Message, Message>()
  return (message: Message): Message => {
    const known = made.get(message) ?? new Message(storeName, 0, message.activity, message.time)
    made.set(message, known)
    return known
  }
}

/** What is kept and what only the store tells, in order of time. No place of a channel lies within: only times do. */
const merged = (told: Portion, kept: Portion, waiting: Portion): Portion => {
  const known = new Set([...kept, ...waiting].map(({ activity }) => keyOf(activity)))
  return [...told.filter(({ activity }) => !known.has(keyOf(activity))), ...kept].sort((a, b) => a.time - b.time)
}
