/** The runner's end of the socket. It sends all messages of one turn of the event loop together. */
import { Socket } from "node:net"
import { type FromRunner, writeFromRunner } from "../protocol/FromRunner.ts"
import { readToRunner, type ToRunner } from "../protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter } from "../protocol/Wire.ts"

/** Maximum frame. The supervisor is trusted; the limit only detects corrupt frames. */
const frameBytesMax = 512 * 1024 * 1024

export class SupervisorSocket {
  readonly #socket: Socket
  readonly #writer = new FrameWriter()
  #scheduled = false

  constructor(fd: number, receive: (message: ToRunner) => void, closed: () => void) {
    this.#socket = new Socket({ fd, readable: true, writable: true })
    const splitter = new FrameSplitter(frameBytesMax)
    this.#socket.on("data", (chunk: Buffer) => splitter.push(chunk, (cursor) => receive(readToRunner(cursor))))
    this.#socket.on("close", closed)
    this.#socket.on("error", closed)
  }

  send(message: FromRunner): void {
    writeFromRunner(this.#writer, message)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      for (const buffer of this.#writer.take()) this.#socket.write(buffer)
    })
  }
}
