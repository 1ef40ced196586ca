/** The latest messages of a channel, bounded in number and in bytes: the oldest go first. */
import { type Message, weightOf } from "./Message.ts"

export class ReplayBuffer {
  #messages: Array<Message> = []
  /** Where the oldest stands; those before it are gone. */
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

  /** The latest of those that are gone. */
  get dropped(): Message | null {
    return this.#dropped
  }

  get all(): ReadonlyArray<Message> {
    return this.#messages.slice(this.#head)
  }

  push(message: Message): void {
    this.#messages.push(message)
    this.#bytes += weightOf(message.activity)
    while (this.size > this.#messagesMax || this.#bytes > this.#bytesMax) this.#dropOldest()
  }

  /** Lets the oldest go until no more than so many bytes are left. */
  shrink(bytes: number): void {
    while (this.#bytes > bytes && this.size > 0) this.#dropOldest()
  }

  /** What is left of the messages behind number `seq`, in order. */
  after(seq: number): ReadonlyArray<Message> {
    const oldest = this.#messages[this.#head]
    return oldest === undefined ? [] : this.#messages.slice(this.#head + Math.max(0, seq + 1 - oldest.seq))
  }

  #dropOldest(): void {
    const oldest = this.#messages[this.#head]
    if (oldest !== undefined) {
      this.#bytes -= weightOf(oldest.activity)
      this.#dropped = oldest
    }
    this.#head++
    // Half of the array is free: moving the rest costs each message one step in its life.
    if (this.#head * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#head)
      this.#head = 0
    }
  }
}
