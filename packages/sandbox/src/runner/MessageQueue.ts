/**
 * Queued messages of an isolate, oldest first, and the size of the next batch.
 *
 * The results of an entry leave the isolate only at its end. So a batch contains as many messages as the isolate can
 * handle in about 10 ms, estimated from the previous entry. That is many short runs, or one that computes for long.
 */
import { type KernelMessage, messageKinds } from "./KernelMessage.ts"

/** Target duration of an entry, in milliseconds. */
const entryMs = 10
/** Maximum messages per entry. */
const batchSizeMax = 32

export class MessageQueue {
  #messages: Array<KernelMessage> = []
  #batchSize = 1

  get isEmpty(): boolean {
    return this.#messages.length === 0
  }

  push(message: KernelMessage): void {
    this.#messages.push(message)
  }

  /** Removes and returns the next batch. */
  take(): ReadonlyArray<KernelMessage> {
    return this.#messages.splice(0, this.#batchSize)
  }

  /** Adapts the batch size to the duration of an entry. */
  recordEntry(messages: number, ms: number): void {
    const onTarget = Math.floor((messages * entryMs) / ms)
    this.#batchSize = Math.max(1, Math.min(onTarget, 2 * this.#batchSize, batchSizeMax))
  }

  /** Removes the invocation of a run; false if it is not queued. */
  removeInvoke(run: number): boolean {
    const index = this.#messages.findIndex((message) => message.run === run && message.kind === messageKinds.invoke)
    if (index >= 0) this.#messages.splice(index, 1)
    return index >= 0
  }

  clear(): void {
    this.#messages = []
  }
}
