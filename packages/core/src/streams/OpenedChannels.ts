/** The channels of a node, one for each environment that is, or lately was, watched there. Plain state, no clock. */
import type { Activity } from "../activity/Activity.ts"
import type { EnvId } from "../ids/Ids.ts"
import type { Series } from "../metrics/Series.ts"
import type { Channel } from "./Channel.ts"

export interface Opened {
  readonly channel: Channel
  /** Epoch milliseconds of when its last subscriber left; null while it has some. */
  leftAt: number | null
}

export type OpenedChannels = Map<EnvId, Opened>

export const gauge = (opened: OpenedChannels): Series => {
  let value = 0
  for (const { channel } of opened.values()) value += channel.subscribers
  const help = "Subscriptions to streams and environments that are open"
  return { type: "gauge", name: "weft_subscriptions", help, labels: {}, value }
}

/** Hands out what happened. Gives how many subscribers got something. */
export const distribute = (
  opened: OpenedChannels,
  messages: ReadonlyArray<Activity>,
  time: number,
  bytesMax: number
): number => {
  const touched = new Set<Channel>()
  for (const activity of messages) {
    const channel = opened.get(activity.env_id)?.channel
    if (channel === undefined) continue
    channel.add(activity, time)
    touched.add(channel)
  }
  let woken = 0
  for (const channel of touched) woken += channel.flush()
  if (touched.size > 0) shrinkLargest(opened, bytesMax)
  return woken
}

/** Keeps what all channels keep together within bounds. The largest pays, so that no tenant's noise costs another. */
const shrinkLargest = (opened: OpenedChannels, bytesMax: number): void => {
  const total = (): number => [...opened.values()].reduce((sum, { channel }) => sum + channel.bytes, 0)
  for (let excess = total() - bytesMax; excess > 0; excess = total() - bytesMax) {
    const [largest] = [...opened.values()].sort((a, b) => b.channel.bytes - a.channel.bytes)
    largest?.channel.shrink(largest.channel.bytes - excess)
  }
}
