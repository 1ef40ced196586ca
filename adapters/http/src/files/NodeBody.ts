/**
 * The body of a `node:http` request, in the chunks that Node received.
 *
 * Other ways of reading concatenate buffered chunks, which copies them and leaves the originals to the garbage
 * collector. Here each chunk has one owner, who can release its memory. Chunks that arrive while earlier ones are
 * processed are delivered together, because one event-loop turn per chunk would cost more than the chunk itself.
 */
import type { IncomingMessage } from "node:http"
import { BadRequest } from "@weft/core"
import { markDisposable } from "@weft/core/adapter"
import { Cause, Effect, Stream } from "effect"

export const unreadableBody = new BadRequest({ reason: "The body could not be read" })

export const nodeBody = (request: IncomingMessage): Stream.Stream<Uint8Array, BadRequest> =>
  Stream.scoped(
    Stream.fromPull(
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => openBody(request)),
          ({ close }) => Effect.sync(close)
        ),
        ({ next }) => next
      )
    )
  )

type Chunks = readonly [Uint8Array, ...ReadonlyArray<Uint8Array>]
type Next = Effect.Effect<Chunks, BadRequest | Cause.Done>

/** Maximum bytes buffered for the reader. Beyond it, the request is paused. */
const bufferedBytesMax = 256 * 1024

const openBody = (request: IncomingMessage): { readonly next: Next; readonly close: () => void } => {
  let chunks: Array<Uint8Array> = []
  let bufferedBytes = 0
  let outcome: Next | null = request.readableEnded
    ? Cause.done()
    : request.destroyed
      ? Effect.fail(unreadableBody)
      : null
  let resumeNext: ((next: Next) => void) | null = null
  let isScheduled = false

  const takeChunks = (): Next | null => {
    const [first, ...others] = chunks
    if (first === undefined) return outcome
    chunks = []
    bufferedBytes = 0
    return Effect.succeed([first, ...others])
  }
  const deliver = (): void => {
    isScheduled = false
    if (resumeNext === null) return
    const next = takeChunks()
    if (next === null) return
    const resume = resumeNext
    resumeNext = null
    resume(next)
  }
  const onData = (chunk: Buffer): void => {
    // With another listener, such as a host that copies bodies, the chunk has a second owner.
    chunks.push(request.listenerCount("data") === 1 ? markDisposable(chunk) : chunk)
    bufferedBytes += chunk.length
    if (bufferedBytes >= bufferedBytesMax) request.pause()
    if (isScheduled) return
    isScheduled = true
    // Delivers after the other chunks that the socket already has.
    setImmediate(deliver)
  }
  const onEnd = (): void => {
    outcome ??= Cause.done()
    deliver()
  }
  const onAborted = (): void => {
    outcome ??= Effect.fail(unreadableBody)
    deliver()
  }
  // If the client disconnects before the end of the body, Node emits `close` only.
  request.on("data", onData).on("end", onEnd).on("error", onAborted).on("close", onAborted)

  return {
    next: Effect.callback((resume) => {
      resumeNext = resume
      deliver()
      if (bufferedBytes < bufferedBytesMax) request.resume()
      return Effect.sync(() => {
        resumeNext = null
      })
    }),
    close: () => {
      request.off("data", onData).off("end", onEnd).off("close", onAborted)
      request.pause()
      // Later connection errors are irrelevant, but an `error` event needs a listener.
      request.off("error", onAborted).on("error", () => undefined)
    }
  }
}
