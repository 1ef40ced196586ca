/** What has happened in an environment, under the number that it has in the environment's channel. */
import type { Activity } from "../activity/Activity.ts"

/**
 * Where a client has got to. Opaque to it. The node that gave it finds the very message again; any other node tells what
 * has happened since its time.
 */
export type Position = string

export class Message {
  readonly activity: Activity
  readonly seq: number
  /** Everything that was stored before this instant, in milliseconds since 1970, comes before it or is told later. */
  readonly time: number
  readonly #channel: string

  constructor(channel: string, seq: number, activity: Activity, time: number) {
    this.#channel = channel
    this.seq = seq
    this.activity = activity
    this.time = time
  }

  get position(): Position {
    return positionOf({ channel: this.#channel, seq: this.seq, time: this.time })
  }
}

export interface Place {
  readonly channel: string
  readonly seq: number
  readonly time: number
}

/** No channel has this name: what is told from the store. */
export const storeName = "store"

export const positionOf = ({ channel, seq, time }: Place): Position => `${channel}-${seq}-t${time}`

/** Null for what is no position. */
export const placeOf = (position: string): Place | null => {
  const [, channel, seq, time] = /^(.+)-(\d{1,15})-t(\d{1,15})$/.exec(position) ?? []
  return channel === undefined ? null : { channel, seq: Number(seq), time: Number(time) }
}

/** Tells apart what can be told both by the feed and from the store; null for what is stored nowhere. */
export const keyOf = (activity: Activity): string | null => {
  switch (activity.type) {
    case "stream:data":
      return null
    case "stream:created":
      return `${activity.type} ${activity.stream_id}`
    case "event:created":
    case "event:handled":
      return `${activity.type} ${activity.event_id}`
    default:
      return `${activity.type} ${activity.run_id}`
  }
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
