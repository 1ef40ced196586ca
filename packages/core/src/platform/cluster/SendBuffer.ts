/**
 * Bounded buffer of messages that a node has yet to send to the others. Plain state without a clock.
 *
 * Activity and control messages have separate limits; beyond its limit each drops the oldest. Other nodes can read
 * activity from the store, but without control messages they use stale records.
 */
import type { ActivityEvent } from "./ActivityEvent.ts"
import { encodeContent, encodeControl } from "./BusCodec.ts"
import type { ControlMessage } from "./ControlMessage.ts"

/** Approximate maximum sizes of pending activity and of pending control messages, in bytes. */
const activityBytesMax = 16 * 1024 * 1024
const controlBytesMax = 4 * 1024 * 1024

/** Approximate size of the activity in one content, in bytes. The last message may exceed it. */
const batchBytes = 512 * 1024

/** Estimates the size of a message as text, in bytes. */
const estimateSize = (activity: ActivityEvent): number => {
  switch (activity.type) {
    case "run:stop":
    case "run:fail":
    case "run:cancel":
      return baseSize + activity.result.length
    case "run:step":
      return baseSize + activity.name.length
    case "run:waiting":
      return baseSize + activity.waiting.length
    case "stream:data":
      return baseSize + activity.data_type.length + activity.payload.length
    default:
      return baseSize
  }
}
const baseSize = 384

export class SendBuffer {
  /** Encoded, to drop duplicates of messages that are still pending. */
  #control = new Set<string>()
  #controlLength = 0
  #activity: Array<ActivityEvent> = []
  /** Index of the oldest pending message. */
  #head = 0
  #activityLength = 0
  #hasDropped = false
  /** Interest in activity to send; null if unchanged. */
  wantsActivity: boolean | null = null
  /** True to query the interest of other nodes. */
  queriesInterest = false
  /** True to send a content even if it is empty: its sequence number shows others whether they missed one. */
  heartbeat = false
  /** Start of this node's silence, for a node that began to want activity; null to omit it. */
  silentSince: number | null = null
  readonly dropped = { control: 0, activity: 0 }

  addControl(messages: ReadonlyArray<ControlMessage>): void {
    for (const each of messages) {
      const text = encodeControl(each)
      if (this.#control.has(text)) continue
      this.#control.add(text)
      this.#controlLength += text.length
    }
    while (this.#controlLength > controlBytesMax) {
      const [oldest = ""] = this.#control
      this.#control.delete(oldest)
      this.#controlLength -= oldest.length
      this.#hasDropped = true
      this.dropped.control++
    }
  }

  addActivity(messages: ReadonlyArray<ActivityEvent>): void {
    for (const message of messages) {
      this.#activity.push(message)
      this.#activityLength += estimateSize(message)
    }
    while (this.#activityLength > activityBytesMax) {
      this.#shift()
      this.#hasDropped = true
      this.dropped.activity++
    }
  }

  /** True if messages were dropped since the last call. */
  takeDropped(): boolean {
    const hasDropped = this.#hasDropped
    this.#hasDropped = false
    return hasDropped
  }

  /** Removes and encodes the next content to send. Returns null if nothing is pending. */
  take(): string | null {
    const activity = this.#takeActivity()
    const { wantsActivity, queriesInterest, silentSince } = this
    const hasSignal = wantsActivity !== null || queriesInterest || this.heartbeat
    if (this.#control.size === 0 && activity.length === 0 && !hasSignal) return null
    const content = encodeContent({ control: this.#control, activity, wantsActivity, queriesInterest, silentSince })
    this.#control = new Set()
    this.#controlLength = 0
    this.wantsActivity = null
    this.queriesInterest = false
    this.heartbeat = false
    this.silentSince = null
    return content
  }

  #takeActivity(): ReadonlyArray<ActivityEvent> {
    const taken: Array<ActivityEvent> = []
    const until = this.#activityLength - batchBytes
    while (this.#activityLength > 0 && this.#activityLength > until) {
      const oldest = this.#shift()
      if (oldest !== undefined) taken.push(oldest)
    }
    return taken
  }

  #shift(): ActivityEvent | undefined {
    const oldest = this.#activity[this.#head]
    if (oldest === undefined) return undefined
    this.#activityLength -= estimateSize(oldest)
    this.#head++
    // Half of the array is free, so on average each message is moved at most once.
    if (this.#head * 2 >= this.#activity.length) {
      this.#activity = this.#activity.slice(this.#head)
      this.#head = 0
    }
    return oldest
  }
}
