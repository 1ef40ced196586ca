/** The pieces of a subscription on their way to its client. */
import type { ServerResponse } from "node:http"
import type { Subscription } from "@weft/core"
import { Cause, Effect } from "effect"
import type { Pieces } from "./Pieces.ts"

/** A piece each time it is asked for one, which is when the connection has taken the one before. */
export const pulled = (
  subscription: Subscription,
  pieces: Pieces
): Effect.Effect<readonly [Uint8Array], Cause.Done> => {
  const next: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() => {
    const piece = pieces.next()
    if (piece !== null) return Effect.succeed([piece] as const)
    if (pieces.isOver) return Cause.done()
    return Effect.flatMap(subscription.take, (told) => {
      pieces.add(told)
      return next
    })
  })
  return next
}

/**
 * Writes all pieces to a response whose headers are sent, as they come, and resolves when there will be no more.
 *
 * What is told to a thousand is written a thousand times: a fiber that is woken, asked and woken again for each would
 * take as long as the writing.
 */
export const poured = (subscription: Subscription, pieces: Pieces, response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    let stop = (): void => undefined

    /** Whether the connection takes more. */
    const write = (): boolean => {
      for (let piece = pieces.next(); piece !== null; piece = pieces.next()) {
        if (!response.write(piece)) return false
      }
      return true
    }
    const goOn = (): void => {
      while (write()) {
        if (pieces.isOver) {
          resume(Effect.void)
          return
        }
        const told = subscription.taken()
        if (told === null) {
          stop = subscription.await(go)
          return
        }
        pieces.add(told)
      }
      response.once("drain", go)
      stop = () => response.off("drain", go)
    }
    const go = (): void => {
      const { socket } = response
      // One call of the system for all of it.
      socket?.cork()
      try {
        goOn()
      } catch (defect) {
        resume(Effect.die(defect))
      } finally {
        socket?.uncork()
      }
    }
    go()
    return Effect.sync(() => stop())
  })
