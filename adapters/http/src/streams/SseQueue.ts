/** The pending messages of one subscriber, encoded in the order of sending. */
import type { MessageBatch, TakeResult } from "@weft/core/internal"
import { completeFrame, heartbeatComment, type SseEncoder, shutdownComment } from "./SseEncoder.ts"

export interface SseQueueOptions {
  readonly encoder: SseEncoder
  /** True if the stream ends with `stream:complete` when it reaches its maximum duration. */
  readonly sendsComplete: boolean
  readonly isShuttingDown: () => boolean
  /** Converts each chunk, for a content coding; null for none. */
  readonly encodeChunk: ((chunk: Uint8Array) => Uint8Array) | null
}

export class SseQueue {
  readonly #options: SseQueueOptions
  readonly #batches: Array<MessageBatch> = []
  /** A comment or final event, sent after all batches. */
  #comment: Uint8Array | null = null
  #from = 0
  #isEnded = false

  constructor(options: SseQueueOptions) {
    this.#options = options
  }

  /** True if the subscription ended, so that nothing more is added. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Adds what the subscription delivered. Called after `next` returned null. */
  add(taken: TakeResult): void {
    if (typeof taken === "string") {
      this.#isEnded = true
      if (taken === "expired" && this.#options.sendsComplete) this.#comment = completeFrame
      if (taken === "closed" && this.#options.isShuttingDown()) this.#comment = shutdownComment
    } else if (taken.length === 0) {
      this.#comment = heartbeatComment
    } else {
      this.#batches.push(...taken)
    }
  }

  /** Returns the next chunk, or null if the queue is empty. */
  next(): Uint8Array | null {
    const { encodeChunk } = this.#options
    const chunk = this.#take()
    return chunk === null || encodeChunk === null ? chunk : encodeChunk(chunk)
  }

  #take(): Uint8Array | null {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      const chunk = this.#options.encoder.next(batch, this.#from)
      this.#from = chunk === null || chunk.end >= batch.length ? 0 : chunk.end
      if (this.#from === 0) this.#batches.shift()
      if (chunk !== null) return chunk.bytes
    }
    const comment = this.#comment
    this.#comment = null
    return comment
  }
}
