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

export class OutputQueue {
  readonly #own: Array<FromRunner> = []
  /** Messages by isolate, in the order of the isolates' turns. */
  readonly #isolates = new Map<number, Array<FromRunner>>()

  get isEmpty(): boolean {
    return this.#own.length === 0 && this.#isolates.size === 0
  }

  /** Adds a message of an isolate, or of `runnerItself`. Messages of the same sender keep their order. */
  push(sender: number, message: FromRunner): void {
    if (sender === runnerItself) {
      this.#own.push(message)
      return
    }
    const messages = this.#isolates.get(sender)
    if (messages === undefined) this.#isolates.set(sender, [message])
    else messages.push(message)
  }

  /** Writes messages until at least `bytes` are written, or none is left. */
  write(writer: FrameWriter, bytes: number): void {
    for (const message of this.#own.splice(0)) writeFromRunner(writer, message)
    while (writer.size < bytes) {
      const [next] = this.#isolates
      if (next === undefined) return
      const [isolate, messages] = next
      this.#isolates.delete(isolate)
      const end = Math.min(bytes, writer.size + turnBytes)
      let written = 0
      for (const message of messages) {
        if (writer.size >= end) break
        writeFromRunner(writer, message)
        written++
      }
      // The isolate's turn has ended: its other messages go to the end.
      if (written < messages.length) this.#isolates.set(isolate, messages.slice(written))
    }
  }
}
