/** What happens in one environment, numbered and kept for a while, and who wants to know. Plain state, no clock. */
import type { Activity } from "../activity/Activity.ts"
import type { StreamId } from "../ids/Ids.ts"
import { keyOf, Message, type Place, positionOf } from "./Message.ts"
import { ReplayBuffer } from "./ReplayBuffer.ts"
import type { Happened } from "./StreamStore.ts"
import { type Portion, type QueueBounds, Subscriber } from "./Subscription.ts"
import type { Turns } from "./Turns.ts"

/** What a subscriber wants: everything of the environment, or one stream, there perhaps one project only. */
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
  readonly #turns: Pick<Turns, "wait">
  readonly #replay: ReplayBuffer
  readonly #whole = new Set<Subscriber>()
  readonly #streams = new Map<StreamId, Map<Subscriber, Interest>>()
  #seq = 0
  #time: number
  #fresh: Array<Message> = []
  /** What was told from the store, and may yet come by the feed. */
  readonly #retold = new Set<string>()

  /**
   * `name` is unlike that of any other channel, also of other nodes and of other lives of this one; `openedAt` is when it
   * begins, in milliseconds since 1970.
   */
  constructor(name: string, bounds: ChannelBounds, openedAt: number, turns: Pick<Turns, "wait">) {
    this.#name = name
    this.#bounds = bounds
    this.#turns = turns
    this.#time = openedAt
    this.#replay = new ReplayBuffer(bounds.replayMessages, bounds.replayBytes)
  }

  get subscribers(): number {
    let count = this.#whole.size
    for (const subscribers of this.#streams.values()) count += subscribers.size
    return count
  }

  /** Bytes that are kept for replay. */
  get bytes(): number {
    return this.#replay.bytes
  }

  shrink(bytes: number): void {
    this.#replay.shrink(bytes)
  }

  /**
   * Takes note of an activity of the environment; `flush` hands it out. Everything that was stored before `time` was
   * added before, or was not told here and will be retold.
   */
  add(activity: Activity, time: number): void {
    if (this.#retold.size > 0 && this.#retold.delete(keyOf(activity) ?? "")) return
    this.#append(activity, time)
  }

  /** What is not kept here of what the store tells. It is taken as told from now on: `retell` it. */
  missing(happened: ReadonlyArray<Happened>): ReadonlyArray<Activity> {
    const kept = new Set(this.#replay.all.map(({ activity }) => keyOf(activity)))
    const missing = happened.flatMap(({ activity }) => (kept.has(keyOf(activity)) ? [] : [activity]))
    if (this.#retold.size > this.#bounds.replayMessages) this.#retold.clear()
    for (const activity of missing) this.#retold.add(keyOf(activity) ?? "")
    return missing
  }

  retell(activity: Activity, time: number): void {
    this.#append(activity, time)
  }

  #append(activity: Activity, time: number): void {
    this.#seq++
    this.#time = Math.max(this.#time, time)
    const message = new Message(this.#name, this.#seq, activity, this.#time)
    this.#replay.push(message)
    this.#fresh.push(message)
  }

  /** Hands out what was added since the last time. Gives how many subscribers got something. */
  flush(): number {
    const fresh = this.#fresh
    this.#fresh = []
    let woken = 0
    const whole = this.#whole.size === 0 ? [] : fresh.filter(({ activity }) => isOfEnv(activity))
    if (whole.length > 0) {
      for (const subscriber of this.#whole) subscriber.offer(whole)
      woken += this.#whole.size
    }
    if (this.#streams.size === 0) return woken
    const portions = new Map<Subscriber, Array<Message>>()
    for (const message of fresh) {
      for (const [subscriber, interest] of this.#streams.get(message.activity.stream_id) ?? []) {
        if (!isWanted(interest, message.activity)) continue
        const portion = portions.get(subscriber)
        if (portion === undefined) portions.set(subscriber, [message])
        else portion.push(message)
      }
    }
    for (const [subscriber, portion] of portions) subscriber.offer(portion)
    return woken + portions.size
  }

  /** Whether everything is kept that this channel has added after the place. */
  keeps({ channel, seq }: Place): boolean {
    return channel === this.#name && seq <= this.#seq && seq >= (this.#replay.dropped?.seq ?? 0)
  }

  /** What is added from now on; `now` is what the time of a message would be. */
  subscribe(interest: Interest, now: number): Subscriber {
    return this.join(interest, { channel: this.#name, seq: this.#seq, time: Math.max(this.#time, now) })
  }

  /** What is added from now on, and before it what was added after a place that this channel gave and `keeps`. */
  resume(interest: Interest, place: Place): Subscriber {
    const subscriber = this.join(interest, place)
    const missed = this.#replay.after(place.seq).filter(({ activity }) => isWanted(interest, activity))
    subscriber.prepend(missed, () => undefined)
    return subscriber
  }

  /** What is added from now on, for one that comes from `begin`. */
  join(interest: Interest, begin: Place): Subscriber {
    // Handed out here, what waits to be flushed would come twice.
    this.flush()
    const subscriber = new Subscriber(positionOf(begin), this.#bounds.queue, this.#turns)
    if (interest.stream === null) this.#whole.add(subscriber)
    else this.#ofStream(interest.stream).set(subscriber, interest)
    return subscriber
  }

  /** What is kept of what was added at `time` or later. */
  keptSince(interest: Interest, time: number): Portion {
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

  #ofStream(stream: StreamId): Map<Subscriber, Interest> {
    const found = this.#streams.get(stream) ?? new Map<Subscriber, Interest>()
    this.#streams.set(stream, found)
    return found
  }
}

/** What runs say in their streams is for those who watch the stream. */
const isOfEnv = (activity: Activity): boolean => activity.type !== "stream:data"

export const isWanted = (interest: Interest, activity: Activity): boolean => {
  if (interest.stream === null) return isOfEnv(activity)
  if (activity.stream_id !== interest.stream || !("run_id" in activity)) return false
  const { project } = interest
  return project === null || project === activity.project_id || project === activity.project_name
}
