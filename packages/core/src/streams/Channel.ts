/** What happens in one environment, numbered and kept for a while, and who wants to know. Plain state, no clock. */
import type { Activity } from "../activity/Activity.ts"
import type { StreamId } from "../ids/Ids.ts"
import { Message, positionOf, seqOf } from "./Message.ts"
import { ReplayBuffer } from "./ReplayBuffer.ts"
import { type Portion, type QueueBounds, Subscriber } from "./Subscription.ts"

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
  readonly #replay: ReplayBuffer
  readonly #whole = new Set<Subscriber>()
  readonly #streams = new Map<StreamId, Map<Subscriber, Interest>>()
  #seq = 0
  #fresh: Array<Message> = []

  /** `name` is unlike that of any other channel, also of other nodes and of other lives of this one. */
  constructor(name: string, bounds: ChannelBounds) {
    this.#name = name
    this.#bounds = bounds
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

  /** Takes note of an activity of the environment; `flush` hands it out. */
  add(activity: Activity): void {
    this.#seq++
    const message = new Message(this.#name, this.#seq, activity)
    this.#replay.push(message)
    this.#fresh.push(message)
  }

  /** Hands out what was added since the last time. Gives how many subscribers got something. */
  flush(): number {
    const fresh = this.#fresh
    this.#fresh = []
    let woken = 0
    const whole = this.#whole.size === 0 ? [] : fresh.filter(isOfEnv)
    if (whole.length > 0) {
      for (const subscriber of this.#whole) subscriber.offer(whole)
      woken += this.#whole.size
    }
    if (this.#streams.size === 0) return woken
    const portions = new Map<Subscriber, Array<Message>>()
    for (const message of fresh) {
      for (const [subscriber, interest] of this.#streams.get(message.activity.stream_id) ?? []) {
        if (!isWanted(interest, message)) continue
        const portion = portions.get(subscriber)
        if (portion === undefined) portions.set(subscriber, [message])
        else portion.push(message)
      }
    }
    for (const [subscriber, portion] of portions) subscriber.offer(portion)
    return woken + portions.size
  }

  /**
   * What is added from now on, and before it what is kept of what was added after the position `after`. A position that
   * this channel did not give counts as none.
   */
  subscribe(interest: Interest, after: string | null): Subscriber {
    // Handed out here, what waits to be flushed would come twice.
    this.flush()
    const asked = after === null ? null : seqOf(this.#name, after)
    const from = asked === null || asked > this.#seq ? this.#seq : asked
    const missed: Portion = this.#replay.after(from).filter((message) => isWanted(interest, message))
    const subscriber = new Subscriber(positionOf(this.#name, from), missed, this.#bounds.queue)
    if (interest.stream === null) this.#whole.add(subscriber)
    else this.#ofStream(interest.stream).set(subscriber, interest)
    return subscriber
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
const isOfEnv = ({ activity }: Message): boolean => activity.type !== "stream:data"

const isWanted = (interest: Interest, message: Message): boolean => {
  const { activity } = message
  if (interest.stream === null) return isOfEnv(message)
  if (activity.stream_id !== interest.stream || !("run_id" in activity)) return false
  const { project } = interest
  return project === null || project === activity.project_id || project === activity.project_name
}
