/** An activity with its number in the channel of its environment. */
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"

/**
 * Position of a client in an environment's activity, opaque to it. The node that issued it finds the exact message
 * again; every other node replays from its time.
 */
export type Position = string

export class Message {
  readonly activity: ActivityEvent
  readonly seq: number
  /** Watermark, in milliseconds since 1970: activity stored before it was distributed earlier, or is replayed later. */
  readonly time: number
  readonly #channel: string

  constructor(channel: string, seq: number, activity: ActivityEvent, time: number) {
    this.#channel = channel
    this.seq = seq
    this.activity = activity
    this.time = time
  }

  get position(): Position {
    return formatPosition({ channel: this.#channel, seq: this.seq, time: this.time })
  }
}

export interface PositionParts {
  readonly channel: string
  readonly seq: number
  readonly time: number
}

/** Channel name of messages from the store; no channel has it. */
export const storeChannel = "store"

export const formatPosition = ({ channel, seq, time }: PositionParts): Position => `${channel}-${seq}-t${time}`

/** Returns the parts of a position, or null for any other text. */
export const parsePosition = (position: string): PositionParts | null => {
  const [, channel, seq, time] = /^(.+)-(\d{1,15})-t(\d{1,15})$/.exec(position) ?? []
  return channel === undefined ? null : { channel, seq: Number(seq), time: Number(time) }
}
