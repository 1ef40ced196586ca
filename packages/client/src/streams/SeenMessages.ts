import type { Message } from "./Watch.ts"

const keysMax = 10_000

/** Returns a key for messages that occur once, by event and run. Null for others. */
const toKey = ({ event, data }: Message): string | null => {
  if (repeated.has(event)) return null
  const ids: { readonly run_id?: string; readonly event_id?: string; readonly stream_id?: string } = {
    ...data,
    ...("run" in data ? Object(data.run) : {})
  }
  const id = ids.run_id ?? ids.event_id ?? ids.stream_id
  return id === undefined ? null : `${event} ${id}`
}

/** Messages of which one event or run may have several. */
const repeated: ReadonlySet<string> = new Set([
  "event:handled",
  "run:step",
  "run:waiting",
  "stream:data",
  "stream:complete"
])

/** The last messages of a subscription, for deduplication. A server that replays from its database may repeat some. */
export class SeenMessages {
  readonly #keys = new Set<string>()

  /** Returns true if the message was seen before, and records it. */
  seenBefore(message: Message): boolean {
    const key = toKey(message)
    if (key === null) return false
    if (this.#keys.has(key)) return true
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > keysMax && oldest !== undefined) this.#keys.delete(oldest)
    return false
  }
}
