/** Numbers and buffers the activity of one environment, and knows its subscribers. Plain state, no clock. */
import type { StreamId } from "../../foundation/Ids.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { activityKey } from "../runs/Activity.ts"
import { formatPosition, Message, type PositionParts } from "./Message.ts"
import type { EnvNotifyQueue } from "./NotifyQueue.ts"
import { ReplayBuffer } from "./ReplayBuffer.ts"
import type { StoredActivity } from "./StreamStore.ts"
import { type MessageBatch, type QueueBounds, Subscriber } from "./Subscription.ts"

/** Interest of a subscriber: the whole environment, or one stream, optionally of one project only. */
export type Interest =
  | { readonly stream: null }
  | {
      readonly stream: StreamId
      /** Id or name. */
      readonly project: string | null
    }

export interface ChannelBounds {
  readonly replayMessages: number
  readonly replayBytes: number
  readonly queue: QueueBounds
}

export class Channel {
  readonly #name: string
  readonly #bounds: ChannelBounds
  readonly #notifyQueue: EnvNotifyQueue
  readonly #replay: ReplayBuffer
  readonly #whole = new Set<Subscriber>()
  readonly #streams = new Map<StreamId, Map<Subscriber, Interest>>()
  #seq = 0
  #time: number
  #unflushed: Array<Message> = []
  /** Keys of activity that was added from the store: the bus may still deliver it. */
  readonly #addedFromStore = new Set<string>()

  /**
   * @param name unique among all channels of all nodes, also across restarts
   * @param openedAt start of the channel, in milliseconds since 1970
   */
  constructor(name: string, bounds: ChannelBounds, openedAt: number, notifyQueue: EnvNotifyQueue) {
    this.#name = name
    this.#bounds = bounds
    this.#notifyQueue = notifyQueue
    this.#time = openedAt
    this.#replay = new ReplayBuffer(bounds.replayMessages, bounds.replayBytes)
  }

  get subscribers(): number {
    let count = this.#whole.size
    for (const subscribers of this.#streams.values()) count += subscribers.size
    return count
  }

  /** Size of the replay buffer in bytes. */
  get bytes(): number {
    return this.#replay.bytes
  }

  shrink(bytes: number): void {
    this.#replay.shrink(bytes)
  }

  /**
   * Adds an activity of the environment; `flush` distributes it. Everything that was stored before `time` was added
   * before, or will be added by `addMissing`.
   */
  add(activity: ActivityEvent, time: number): void {
    if (this.#addedFromStore.size > 0 && this.#addedFromStore.delete(activityKey(activity) ?? "")) return
    this.#append(activity, time)
  }

  /** Returns the stored activity that is not buffered. Pass each of it to `addMissing`: a later `add` of it is ignored. */
  selectMissing(stored: ReadonlyArray<StoredActivity>): ReadonlyArray<ActivityEvent> {
    const buffered = new Set(this.#replay.all.map(({ activity }) => activityKey(activity)))
    const missing = stored.flatMap(({ activity }) => (buffered.has(activityKey(activity)) ? [] : [activity]))
    if (this.#addedFromStore.size > this.#bounds.replayMessages) this.#addedFromStore.clear()
    for (const activity of missing) this.#addedFromStore.add(activityKey(activity) ?? "")
    return missing
  }

  addMissing(activity: ActivityEvent, time: number): void {
    this.#append(activity, time)
  }

  #append(activity: ActivityEvent, time: number): void {
    this.#seq++
    this.#time = Math.max(this.#time, time)
    const message = new Message(this.#name, this.#seq, activity, this.#time)
    this.#replay.push(message)
    this.#unflushed.push(message)
  }

  /** Distributes the messages since the last flush. Returns the number of subscribers that received some. */
  flush(): number {
    const unflushed = this.#unflushed
    this.#unflushed = []
    let notified = 0
    const whole = this.#whole.size === 0 ? [] : unflushed.filter(({ activity }) => isOfEnv(activity))
    if (whole.length > 0) {
      for (const subscriber of this.#whole) subscriber.offer(whole)
      notified += this.#whole.size
    }
    if (this.#streams.size === 0) return notified
    const batches = new Map<Subscriber, Array<Message>>()
    for (const message of unflushed) {
      for (const [subscriber, interest] of this.#streams.get(message.activity.stream_id) ?? []) {
        if (!isWanted(interest, message.activity)) continue
        const batch = batches.get(subscriber)
        if (batch === undefined) batches.set(subscriber, [message])
        else batch.push(message)
      }
    }
    for (const [subscriber, batch] of batches) subscriber.offer(batch)
    return notified + batches.size
  }

  /** True if all messages after the position are still buffered. */
  canResume({ channel, seq }: PositionParts): boolean {
    return channel === this.#name && seq <= this.#seq && seq >= (this.#replay.dropped?.seq ?? 0)
  }

  /** Returns a subscriber to new messages. `now` is the time that a message would have. */
  subscribe(interest: Interest, now: number): Subscriber {
    return this.join(interest, { channel: this.#name, seq: this.#seq, time: Math.max(this.#time, now) })
  }

  /** Returns a subscriber to the messages after a position of this channel, which `canResume`. */
  resume(interest: Interest, position: PositionParts): Subscriber {
    const subscriber = this.join(interest, position)
    const missed = this.#replay.after(position.seq).filter(({ activity }) => isWanted(interest, activity))
    subscriber.prepend(missed, () => undefined)
    return subscriber
  }

  /** Returns a subscriber to new messages, whose start is `begin`. */
  join(interest: Interest, begin: PositionParts): Subscriber {
    // Without a flush the subscriber would receive messages from before it joined, perhaps twice.
    this.flush()
    const subscriber = new Subscriber(formatPosition(begin), this.#bounds.queue, this.#notifyQueue)
    if (interest.stream === null) this.#whole.add(subscriber)
    else this.#subscribersOf(interest.stream).set(subscriber, interest)
    return subscriber
  }

  /** Returns the buffered messages of `time` or later. */
  bufferedSince(interest: Interest, time: number): MessageBatch {
    return this.#replay.all.filter((message) => message.time >= time && isWanted(interest, message.activity))
  }

  unsubscribe(interest: Interest, subscriber: Subscriber): void {
    if (interest.stream === null) {
      this.#whole.delete(subscriber)
    } else {
      const subscribers = this.#streams.get(interest.stream)
      subscribers?.delete(subscriber)
      if (subscribers?.size === 0) this.#streams.delete(interest.stream)
    }
    subscriber.finish("closed")
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const subscriber of this.#whole) subscriber.finish("closed")
    for (const subscribers of this.#streams.values()) {
      for (const subscriber of subscribers.keys()) subscriber.finish("closed")
    }
  }

  #subscribersOf(stream: StreamId): Map<Subscriber, Interest> {
    const found = this.#streams.get(stream) ?? new Map<Subscriber, Interest>()
    this.#streams.set(stream, found)
    return found
  }
}

/** Data that runs emit is only for subscribers to their stream. */
const isOfEnv = (activity: ActivityEvent): boolean => activity.type !== "stream:data"

export const isWanted = (interest: Interest, activity: ActivityEvent): boolean => {
  if (interest.stream === null) return isOfEnv(activity)
  if (activity.stream_id !== interest.stream || !("run_id" in activity)) return false
  const { project } = interest
  return project === null || project === activity.project_id || project === activity.project_name
}
