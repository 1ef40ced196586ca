/** What has happened in an environment, under the number that it has in the environment's channel. */
import type { Activity } from "../activity/Activity.ts"

/** Where a client has got to. Opaque to it; means something only to the node that gave it. */
export type Position = string

export class Message {
  readonly activity: Activity
  readonly seq: number
  readonly #channel: string

  constructor(channel: string, seq: number, activity: Activity) {
    this.#channel = channel
    this.seq = seq
    this.activity = activity
  }

  get position(): Position {
    return positionOf(this.#channel, this.seq)
  }
}

export const positionOf = (channel: string, seq: number): Position => `${channel}-${seq}`

/** The number in a position of this channel; null for any other text. */
export const seqOf = (channel: string, position: string): number | null => {
  if (!position.startsWith(`${channel}-`)) return null
  const digits = position.slice(channel.length + 1)
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null
}

/** About how much memory an activity takes, in bytes: twice its text, which is kept encoded, too, once it was sent. */
export const weightOf = (activity: Activity): number => {
  switch (activity.type) {
    case "run:stop":
    case "run:fail":
    case "run:cancel":
      return base + 2 * activity.result.length
    case "stream:data":
      return base + 2 * (activity.data_type.length + activity.payload.length)
    default:
      return base
  }
}

const base = 512
