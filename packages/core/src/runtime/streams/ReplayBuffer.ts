/** The latest messages of a channel, bounded in number and in bytes. Drops the oldest first. */
import { activityBytes } from "../runs/Activity.ts"
import type { Message } from "./Message.ts"

export class ReplayBuffer {
  #messages: Array<Message> = []
  /** Index of the oldest message; those before it were dropped. */
  #head = 0
  #bytes = 0
  #dropped: Message | null = null
  readonly #messagesMax: number
  readonly #bytesMax: number

  constructor(messagesMax: number, bytesMax: number) {
    this.#messagesMax = messagesMax
    this.#bytesMax = bytesMax
  }

  get size(): number {
    return this.#messages.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The latest message that was dropped. */
  get dropped(): Message | null {
    return this.#dropped
  }

  get all(): ReadonlyArray<Message> {
    return this.#messages.slice(this.#head)
  }

  push(message: Message): void {
    this.#messages.push(message)
    this.#bytes += activityBytes(message.activity)
    while (this.size > this.#messagesMax || this.#bytes > this.#bytesMax) this.#dropOldest()
  }

  /** Drops the oldest messages until at most `bytes` remain. */
  shrink(bytes: number): void {
    while (this.#bytes > bytes && this.size > 0) this.#dropOldest()
  }

  /** Returns the buffered messages after number `seq`, in order. */
  after(seq: number): ReadonlyArray<Message> {
    const oldest = this.#messages[this.#head]
    return oldest === undefined ? [] : this.#messages.slice(this.#head + Math.max(0, seq + 1 - oldest.seq))
  }

  #dropOldest(): void {
    const oldest = this.#messages[this.#head]
    if (oldest !== undefined) {
      this.#bytes -= activityBytes(oldest.activity)
      this.#dropped = oldest
    }
    this.#head++
    // Half of the array is free, so that each message is moved once on average.
    if (this.#head * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#head)
      this.#head = 0
    }
  }
}
