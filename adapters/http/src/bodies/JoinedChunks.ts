/**
 * Joins the small chunks of a chunked body that arrive in one read.
 *
 * A read of 64 KiB holds up to 10,900 chunks of one byte. Node pushes each of them into the request, as a `Buffer` of some
 * hundred bytes.
 */
import type { IncomingMessage } from "node:http"

/** Smaller chunks are joined. */
const smallChunkBytes = 4096

/** Chunks that cost as much as some requests, about 2 us each. */
const manyChunks = 1000

/** The small chunks of the body that was parsed last. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)
let flushScratch: (() => void) | null = null

export interface ChunkEvents {
  /** Called after 1,000 small chunks in one turn of the event loop. */
  readonly onManyChunks: () => void
  /** Called when the next part of the body is wanted, with the function that reads it. */
  readonly onRead: (read: () => void) => void
  /** Called when the whole body is parsed. */
  readonly onComplete: () => void
}

/** To be called before Node parses the body, in the event `request`. */
export const joinChunks = (request: IncomingMessage, { onManyChunks, onRead, onComplete }: ChunkEvents): void => {
  const push = request.push.bind(request)
  const read = request._read.bind(request)
  let joinedBytes = 0
  let chunks = 0

  const flush = (): boolean => {
    if (flushScratch === flush) flushScratch = null
    const bytes = joinedBytes
    joinedBytes = 0
    return bytes === 0 || request.destroyed ? true : push(Buffer.from(scratch.subarray(0, bytes)))
  }
  const endTurn = (): void => {
    chunks = 0
    flush()
  }
  const join = (chunk: Buffer): boolean => {
    if (flushScratch !== flush) {
      flushScratch?.()
      flushScratch = flush
    }
    // Node runs ticks after each chunk, so only an immediate comes after all chunks of a read.
    if (chunks === 0) setImmediate(endTurn)
    scratch.set(chunk, joinedBytes)
    joinedBytes += chunk.length
    if (++chunks === manyChunks) onManyChunks()
    return joinedBytes + smallChunkBytes > scratch.length ? flush() : true
  }
  request._read = (size) => onRead(() => read(size))
  request.push = (chunk: Buffer | null) => {
    if (chunk !== null && chunk.length < smallChunkBytes) return join(chunk)
    flush()
    if (chunk === null) onComplete()
    return push(chunk)
  }
}
