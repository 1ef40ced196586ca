/**
 * The body of a request of `node:http`, in the pieces in which it came in.
 *
 * Reading it in any other way joins pieces when several have come in, which copies them and leaves the originals to
 * the garbage collector. Here each piece is nobody else's, so that it can be given back.
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

type Next = Effect.Effect<readonly [Uint8Array], BadRequest | Cause.Done>

const openBody = (request: IncomingMessage): { readonly next: Next; readonly close: () => void } => {
  const pieces: Array<Buffer> = []
  let outcome: Next | null = request.readableEnded ? Cause.done() : request.destroyed ? Effect.fail(torn) : null
  let waiting: ((next: Next) => void) | null = null

  const settle = (): void => {
    if (waiting === null) return
    const piece = pieces.shift()
    const next = piece === undefined ? outcome : Effect.succeed([piece] as const)
    if (next === null) return
    const resume = waiting
    waiting = null
    resume(next)
  }
  const onData = (piece: Buffer): void => {
    request.pause()
    // Whoever else listens, such as a host that keeps a copy of bodies, has the same piece.
    pieces.push(request.listenerCount("data") === 1 ? markDisposable(piece) : piece)
    settle()
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
      if (waiting !== null) request.resume()
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
