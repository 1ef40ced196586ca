/** Large bodies of known length, whose parts are read in turns: a full socket buffer holds several MiB. */
import type { IncomingMessage } from "node:http"

/** Smaller bodies are a few reads. */
const largeBodyBytes = 128 * 1024

export interface BodyTurns {
  /** Called with the bytes of each part that was read. */
  readonly onPart: (bytes: number) => void
  /** Called when the next part of the body is wanted, with the function that reads it. */
  readonly onRead: (read: () => void) => void
}

/** True if the body declares a length whose parts should be read in turns. */
export const hasLargeBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) >= largeBodyBytes

/** To be called before Node parses the body, in the event `request`. */
export const readLargeBody = (request: IncomingMessage, { onPart, onRead }: BodyTurns): void => {
  const push = request.push.bind(request)
  const read = request._read.bind(request)
  request._read = (size) => {
    if (request.complete) read(size)
    else onRead(() => read(size))
  }
  request.push = (chunk: Buffer | null) => {
    if (chunk !== null) onPart(chunk.length)
    return push(chunk)
  }
}
