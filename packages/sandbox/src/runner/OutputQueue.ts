/**
 * Messages that wait for the socket to the supervisor.
 *
 * The isolates of a runner take turns. So a small answer of one does not wait for all large results of another. The supervisor
 * reads only some hundred KB per turn of its event loop.
 */
import { type FromRunner, writeFromRunner } from "../protocol/FromRunner.ts"
import type { FrameWriter } from "../protocol/Wire.ts"

/** Bytes that an isolate writes in its turn before the next one has its own. Its last message may exceed them. */
const turnBytes = 16 * 1024

/** The sender of messages of the runner itself, which come first. */
export const runnerItself = -1

interface Waiting {
  readonly messages: Array<FromRunner>
  /** Messages at the head that are written. */
  written: number
}

export class OutputQueue {
  readonly #own: Array<FromRunner> = []
  /** Isolates with messages, in the order of their turns. */
  readonly #isolates = new Map<number, Waiting>()

  get isEmpty(): boolean {
    return this.#own.length === 0 && this.#isolates.size === 0
  }

  /** Adds a message of an isolate, or of `runnerItself`. Messages of the same sender keep their order. */
  push(sender: number, message: FromRunner): void {
    if (sender === runnerItself) {
      this.#own.push(message)
      return
    }
    const waiting = this.#isolates.get(sender)
    if (waiting === undefined) this.#isolates.set(sender, { messages: [message], written: 0 })
    else waiting.messages.push(message)
  }

  /** Writes messages until at least `bytes` are written, or none is left. */
  write(writer: FrameWriter, bytes: number): void {
    for (const message of this.#own.splice(0)) writeFromRunner(writer, message)
    while (writer.size < bytes) {
      const [next] = this.#isolates
      if (next === undefined) return
      const [isolate, waiting] = next
      this.#isolates.delete(isolate)
      const end = Math.min(bytes, writer.size + turnBytes)
      while (writer.size < end) {
        const message = waiting.messages[waiting.written]
        if (message === undefined) break
        waiting.written++
        writeFromRunner(writer, message)
      }
      if (waiting.written === waiting.messages.length) continue
      this.#isolates.set(isolate, { messages: waiting.messages.slice(waiting.written), written: 0 })
    }
  }
}
