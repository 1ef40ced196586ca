/** The runner's end of the socket. It sends the messages of one turn of the event loop together, up to a limit. */
import { Socket } from "node:net"
import type { FromRunner } from "../protocol/FromRunner.ts"
import { readToRunner, type ToRunner } from "../protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter } from "../protocol/Wire.ts"
import { OutputQueue } from "./OutputQueue.ts"

/** Maximum frame. The supervisor is trusted; the limit only detects corrupt frames. */
const frameBytesMax = 512 * 1024 * 1024

/** Bytes that are sent before the system has accepted the earlier ones. Small messages can overtake only those in the queue. */
const sentBytesMax = 64 * 1024

export class SupervisorSocket {
  readonly #socket: Socket
  readonly #writer = new FrameWriter()
  readonly #queue = new OutputQueue()
  #isScheduled = false
  #isSending = false

  constructor(fd: number, receive: (message: ToRunner) => void, closed: () => void) {
    this.#socket = new Socket({ fd, readable: true, writable: true })
    const splitter = new FrameSplitter(frameBytesMax)
    this.#socket.on("data", (chunk: Buffer) => splitter.push(chunk, (cursor) => receive(readToRunner(cursor))))
    this.#socket.on("close", closed)
    this.#socket.on("error", closed)
  }

  /** Sends a message of an isolate, or of `runnerItself`. Messages of the same sender keep their order. */
  send(sender: number, message: FromRunner): void {
    this.#queue.push(sender, message)
    if (this.#isScheduled || this.#isSending) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#queue.isEmpty) return
    this.#queue.write(this.#writer, sentBytesMax)
    const buffers = this.#writer.take()
    this.#isSending = true
    this.#socket.cork()
    for (const buffer of buffers.slice(0, -1)) this.#socket.write(buffer)
    this.#socket.write(buffers.at(-1) ?? "", () => {
      this.#isSending = false
      this.#flush()
    })
    this.#socket.uncork()
  }
}
