/** Streams, from the events that they contain. The API has no list of streams. */
import { weft } from "../api/client.ts"

/** Latest events whose streams are listed. */
const eventsMax = 100

export interface RecentStream {
  readonly id: string
  /** Type and time of its newest event. */
  readonly type: string
  readonly time: string
  /** Events among the latest ones. */
  readonly count: number
}

/** Returns the streams of the latest events, by their newest event. */
export const recentStreams = async (): Promise<ReadonlyArray<RecentStream>> => {
  const { items } = await weft.events.list({ limit: eventsMax })
  const streams = new Map<string, RecentStream>()
  for (const { stream_id: id, event_type: type, event_time: time } of items) {
    const newer = streams.get(id)
    streams.set(id, newer === undefined ? { id, type, time, count: 1 } : { ...newer, count: newer.count + 1 })
  }
  return [...streams.values()]
}
