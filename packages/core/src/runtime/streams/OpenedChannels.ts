/** Channels of a node, one per environment that has subscribers, or had some lately. Plain state, no clock. */
import type { EnvId } from "../../foundation/Ids.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import type { Channel } from "./Channel.ts"

export interface OpenedChannel {
  readonly channel: Channel
  /** Epoch milliseconds when its last subscriber unsubscribed; null while it has subscribers. */
  idleSince: number | null
}

export type OpenedChannels = Map<EnvId, OpenedChannel>

export const countSubscriptions = (opened: OpenedChannels): Series => {
  let value = 0
  for (const { channel } of opened.values()) value += channel.subscribers
  const help = "Subscriptions to streams and environments that are open"
  return { type: "gauge", name: "weft_subscriptions", help, labels: {}, value }
}

/** Adds messages to the channels of their environments. Returns the number of subscribers that received some. */
export const distribute = (
  opened: OpenedChannels,
  messages: ReadonlyArray<ActivityEvent>,
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
  let notified = 0
  for (const channel of touched) notified += channel.flush()
  if (touched.size > 0) shrinkLargest(opened, bytesMax)
  return notified
}

/** Bounds the size of all replay buffers together. Shrinks the largest, so that no tenant's load affects another. */
const shrinkLargest = (opened: OpenedChannels, bytesMax: number): void => {
  const total = (): number => [...opened.values()].reduce((sum, { channel }) => sum + channel.bytes, 0)
  for (let excess = total() - bytesMax; excess > 0; excess = total() - bytesMax) {
    const [largest] = [...opened.values()].sort((a, b) => b.channel.bytes - a.channel.bytes)
    largest?.channel.shrink(largest.channel.bytes - excess)
  }
}
