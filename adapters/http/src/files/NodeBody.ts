/**
 * The body of a request of `node:http`, in the pieces in which it came in.
 *
 * Reading it in any other way joins pieces when several have come in, which copies them and leaves the originals to
 * the garbage collector. Here each piece is nobody else's, so that it can be given back. What has come in while the
 * pieces before were worked on is taken together: a turn for each piece would cost more than the piece itself.
 */
import type { IncomingMessage } from "node:http"
import { BadRequest, markDisposable } from "@weft/core"
import { Cause, Effect, Stream } from "effect"

export const torn = new BadRequest({ reason: "The body could not be read" })

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

type Pieces = readonly [Uint8Array, ...ReadonlyArray<Uint8Array>]
type Next = Effect.Effect<Pieces, BadRequest | Cause.Done>

/** Of pieces that wait to be taken; a client that sends more has to wait. */
const waitingBytesMax = 256 * 1024

const openBody = (request: IncomingMessage): { readonly next: Next; readonly close: () => void } => {
  let pieces: Array<Uint8Array> = []
  let waitingBytes = 0
  let outcome: Next | null = request.readableEnded ? Cause.done() : request.destroyed ? Effect.fail(torn) : null
  let waiting: ((next: Next) => void) | null = null
  let isSettling = false

  const taken = (): Next | null => {
    const [first, ...others] = pieces
    if (first === undefined) return outcome
    pieces = []
    waitingBytes = 0
    return Effect.succeed([first, ...others])
  }
  const settle = (): void => {
    isSettling = false
    if (waiting === null) return
    const next = taken()
    if (next === null) return
    const resume = waiting
    waiting = null
    resume(next)
  }
  const onData = (piece: Buffer): void => {
    // Whoever else listens, such as a host that keeps a copy of bodies, has the same piece.
    pieces.push(request.listenerCount("data") === 1 ? markDisposable(piece) : piece)
    waitingBytes += piece.length
    if (waitingBytes >= waitingBytesMax) request.pause()
    if (isSettling) return
    isSettling = true
    // More is about to come where the system has more.
    setImmediate(settle)
  }
  const onEnd = (): void => {
    outcome ??= Cause.done()
    settle()
  }
  const onTorn = (): void => {
    outcome ??= Effect.fail(torn)
    settle()
  }
  // Whoever goes away before the end of a body is told of by `close` alone.
  request.on("data", onData).on("end", onEnd).on("error", onTorn).on("close", onTorn)

  return {
    next: Effect.callback((resume) => {
      waiting = resume
      settle()
      if (waitingBytes < waitingBytesMax) request.resume()
      return Effect.sync(() => {
        waiting = null
      })
    }),
    close: () => {
      request.off("data", onData).off("end", onEnd).off("close", onTorn)
      request.pause()
      // A connection that breaks later is nobody's concern, but an error must have a listener.
      request.off("error", onTorn).on("error", () => undefined)
    }
  }
}
