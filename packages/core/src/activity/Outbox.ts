/**
 * What a node has yet to tell the others, within bounds. Plain state, no clock.
 *
 * Where it cannot be sent, the oldest activity goes first, and news last of all: others find activity in the store, but
 * go by what is out of date without news.
 */
import type { Activity } from "./Activity.ts"
import { encodeContent, encodeNews } from "./FeedCodec.ts"
import type { News } from "./News.ts"

/** About how many bytes activity may take that waits, and news. */
const activityMax = 16 * 1024 * 1024
const newsMax = 4 * 1024 * 1024

/** About how many bytes of activity are sent at once; a message more. */
const atOnce = 512 * 1024

/** About what a message takes as text. */
const lengthOf = (activity: Activity): number => {
  switch (activity.type) {
    case "run:stop":
    case "run:fail":
    case "run:cancel":
      return base + activity.result.length
    case "stream:data":
      return base + activity.data_type.length + activity.payload.length
    default:
      return base
  }
}
const base = 384

export class Outbox {
  /** Encoded: what was said already and has not left yet need not be said again. */
  #news = new Set<string>()
  #newsLength = 0
  #activity: Array<Activity> = []
  /** Where the oldest stands; those before it are gone. */
  #head = 0
  #activityLength = 0
  #isMissing = false
  /** What to say about wanting to hear activity; null for nothing. */
  watching: boolean | null = null
  /** Whether to ask who does. */
  asks = false
  /** Whether to be heard, though there be nothing to say: by the number, others see what they have missed. */
  greets = false
  /** What to say to one who is new to wanting activity; null for nothing. */
  silentSince: number | null = null
  readonly dropped = { news: 0, activity: 0 }

  tell(news: ReadonlyArray<News>): void {
    for (const each of news) {
      const text = encodeNews(each)
      if (this.#news.has(text)) continue
      this.#news.add(text)
      this.#newsLength += text.length
    }
    while (this.#newsLength > newsMax) {
      const [oldest = ""] = this.#news
      this.#news.delete(oldest)
      this.#newsLength -= oldest.length
      this.#isMissing = true
      this.dropped.news++
    }
  }

  publish(messages: ReadonlyArray<Activity>): void {
    for (const message of messages) {
      this.#activity.push(message)
      this.#activityLength += lengthOf(message)
    }
    while (this.#activityLength > activityMax) {
      this.#shift()
      this.#isMissing = true
      this.dropped.activity++
    }
  }

  /** Whether something was dropped since the last time that this was asked. */
  missing(): boolean {
    const isMissing = this.#isMissing
    this.#isMissing = false
    return isMissing
  }

  /** The text of what is to be sent next; null for nothing. */
  take(): string | null {
    const activity = this.#takeActivity()
    const { watching, asks, greets, silentSince } = this
    if (this.#news.size === 0 && activity.length === 0 && watching === null && !asks && !greets) return null
    const content = encodeContent({ news: this.#news, activity, watching, asks, silentSince })
    this.#news = new Set()
    this.#newsLength = 0
    this.watching = null
    this.asks = false
    this.greets = false
    this.silentSince = null
    return content
  }

  #takeActivity(): ReadonlyArray<Activity> {
    const taken: Array<Activity> = []
    const until = this.#activityLength - atOnce
    while (this.#activityLength > 0 && this.#activityLength > until) {
      const oldest = this.#shift()
      if (oldest !== undefined) taken.push(oldest)
    }
    return taken
  }

  #shift(): Activity | undefined {
    const oldest = this.#activity[this.#head]
    if (oldest === undefined) return undefined
    this.#activityLength -= lengthOf(oldest)
    this.#head++
    // Half of the array is free: moving the rest costs each message one step in its life.
    if (this.#head * 2 >= this.#activity.length) {
      this.#activity = this.#activity.slice(this.#head)
      this.#head = 0
    }
    return oldest
  }
}
